/*
 * The doors, for x86-64.
 *
 * Every entry point that is not NO_DOOR has an exported name, for programs that link libcuda.so.1 in the ordinary way: one
 * jump through reprise_exported[entry], which the first call fills in.
 *
 * Every ORDER, SYNC and LIFETIME entry point has a generic door, reprise_door_NAME, which dlsym and cuGetProcAddress hand
 * out: it tells the inner rooms what is coming, if they need to know, and jumps to the driver's function with all arguments
 * as they were, in registers and on the stack. RECORD, OWN and ALLOC doors are C functions of the same name pattern.
 *
 * A door uses %r11 alone, which the calling convention leaves to it.
 */
#include "assembly.h"
#include "entry_points.h"

	.hidden reprise_attention, reprise_real, reprise_exported
	.hidden reprise_door_tell, reprise_door_returned, reprise_door_ended, reprise_door_first_call, reprise_observe_result

/* The integer arguments come first, in their order, as reprise_door_tell() reads them. */
#define FRAME_BYTES 208
#define KEPT 48
#define VECTORS 64

	.macro save_arguments
	pushq %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq $FRAME_BYTES, %rsp
	andq $-16, %rsp
	movq %rdi, 0(%rsp)
	movq %rsi, 8(%rsp)
	movq %rdx, 16(%rsp)
	movq %rcx, 24(%rsp)
	movq %r8, 32(%rsp)
	movq %r9, 40(%rsp)
	movq %rax, KEPT(%rsp)
	movq %r10, KEPT+8(%rsp)
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	movaps %xmm\n, VECTORS+16*\n(%rsp)
	.endr
	.endm

	.macro restore_arguments
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7
	movaps VECTORS+16*\n(%rsp), %xmm\n
	.endr
	movq 0(%rsp), %rdi
	movq 8(%rsp), %rsi
	movq 16(%rsp), %rdx
	movq 24(%rsp), %rcx
	movq 32(%rsp), %r8
	movq 40(%rsp), %r9
	movq KEPT(%rsp), %rax
	movq KEPT+8(%rsp), %r10
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	.endm

/* Called by a door, with the entry in %r11d, where the answer is afterwards; every register that can carry an argument is as before when it returns. */
	function reprise_tell
	save_arguments
	movl %r11d, %edi
	movq %rsp, %rsi
	leaq 24(%rbp), %rdx /* past %rbp, the way back to the door, the way back to the program */
	call reprise_door_tell
	movl %eax, %r11d
	restore_arguments
	ret
	end_function reprise_tell

/* The tail of a checked door: the result in %eax is not zero. */
	function reprise_result
	pushq %rax
	.cfi_adjust_cfa_offset 8
	movl %eax, %edi
	call reprise_observe_result
	popq %rax
	.cfi_adjust_cfa_offset -8
	ret
	end_function reprise_result

/* The tail of a door that waits, with the entry in %r11d: the call has returned, with %eax. */
	function reprise_returned
	pushq %rax
	.cfi_adjust_cfa_offset 8
	movl %r11d, %edi
	movl %eax, %esi
	call reprise_door_returned
	popq %rax
	.cfi_adjust_cfa_offset -8
	ret
	end_function reprise_returned

/* The first call through an exported name, with the entry in %r11d. */
	function reprise_first_call
	save_arguments
	movl %r11d, %edi
	movq 8(%rbp), %rsi /* the way back to the program */
	call reprise_door_first_call
	movq %rax, %r11
	restore_arguments
	jmp *%r11
	end_function reprise_first_call

/* What an exported name leads to if the driver has no such function: CUDA_ERROR_NOT_SUPPORTED. */
	hidden_function reprise_door_missing
	movl $801, %eax
	ret
	end_function reprise_door_missing

	.macro jump_exported
	movq reprise_exported + 8 * entry(%rip), %r11
	testq %r11, %r11
	je 1f
	jmp *%r11
1:	movl $entry, %r11d
	jmp reprise_first_call
	.endm

	.macro if_attention_go label
	cmpl $0, reprise_attention(%rip)
	jne \label
	.endm

	.macro unless_told_go label
	testl %r11d, %r11d
	je \label
	movl %r11d, %eax
	ret
	.endm

	.macro tell
	movl $entry, %r11d
	call reprise_tell
	.endm

	.macro eager_UNCHECKED
	jmp *reprise_real + 8 * entry(%rip)
	.endm

	.macro eager_CHECKED
	subq $8, %rsp
	.cfi_adjust_cfa_offset 8
	call *reprise_real + 8 * entry(%rip)
	addq $8, %rsp
	.cfi_adjust_cfa_offset -8
	testl %eax, %eax
	jne reprise_result
	ret
	.endm

	.macro eager_WAITS
	subq $8, %rsp
	.cfi_adjust_cfa_offset 8
	call *reprise_real + 8 * entry(%rip)
	addq $8, %rsp
	.cfi_adjust_cfa_offset -8
	movl $entry, %r11d
	jmp reprise_returned
	.endm

	.macro eager_ENDING
	pushq %rdi
	.cfi_adjust_cfa_offset 8
	call *reprise_real + 8 * entry(%rip)
	movl $entry, %edi
	movl %eax, %esi
	movq (%rsp), %rdx
	call reprise_door_ended
	addq $8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.endm

#include "doors-rows.h"
