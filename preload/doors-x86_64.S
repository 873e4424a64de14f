/*
 * The doors, for x86-64.
 *
 * Every entry point that is not PASS has an exported name, for programs that link libcuda.so.1 in the ordinary way: one
 * jump through reprise_exported[entry], which the first call fills in.
 *
 * Every ORDER, SYNC and LIFETIME entry point has a generic door, reprise_door_NAME, which dlsym and cuGetProcAddress hand
 * out: it tells the inner rooms what is coming, if they need to know, and jumps to the driver's function with all arguments
 * as they were, in registers and on the stack. RECORD and OWN doors are C functions of the same name pattern.
 *
 * A door uses %r11 alone, which the calling convention leaves to it.
 */
#include "entry_points.h"

	.hidden reprise_attention, reprise_real, reprise_exported
	.hidden reprise_door_tell, reprise_door_first_call, reprise_observe_result

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
	.endm

	.macro function name
	.balign 16
	.type \name, @function
\name:
	.cfi_startproc
	.endm

	.macro end_function name
	.cfi_endproc
	.size \name, . - \name
	.endm

	.text

/* Called by a door, with the entry in %r11d; every register that can carry an argument is as before when it returns. */
	function reprise_tell
	save_arguments
	movl %r11d, %edi
	movq %rsp, %rsi
	leaq 24(%rbp), %rdx /* past %rbp, the way back to the door, the way back to the program */
	call reprise_door_tell
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

/* The first call through an exported name, with the entry in %r11d. */
	function reprise_first_call
	save_arguments
	movl %r11d, %edi
	call reprise_door_first_call
	movq %rax, %r11
	restore_arguments
	jmp *%r11
	end_function reprise_first_call

/* What an exported name leads to if the driver has no such function: CUDA_ERROR_NOT_SUPPORTED. */
	.globl reprise_door_missing
	.hidden reprise_door_missing
	function reprise_door_missing
	movl $801, %eax
	ret
	end_function reprise_door_missing

/* One row of the table after the other; `entry` counts them. */
	.set entry, 0

	.macro exported name
	.section .text.reprise_exported, "ax", @progbits
	.globl \name
	function \name
	movq reprise_exported + 8 * entry(%rip), %r11
	testq %r11, %r11
	je 1f
	jmp *%r11
1:	movl $entry, %r11d
	jmp reprise_first_call
	end_function \name
	.text
	.endm

	.macro generic name
	.globl reprise_door_\name
	.hidden reprise_door_\name
	function reprise_door_\name
	.endm

	.macro tell_entry
	movl $entry, %r11d
	call reprise_tell
	.endm

	.macro pass_UNCHECKED
	jmp *reprise_real + 8 * entry(%rip)
	.endm

	.macro pass_CHECKED
	subq $8, %rsp
	.cfi_adjust_cfa_offset 8
	call *reprise_real + 8 * entry(%rip)
	addq $8, %rsp
	.cfi_adjust_cfa_offset -8
	testl %eax, %eax
	jne reprise_result
	ret
	.endm

	.macro barrier_door name, result
	generic \name
	cmpl $0, reprise_attention(%rip)
	jne 2f
1:	pass_\result
2:	tell_entry
	jmp 1b
	end_function reprise_door_\name
	.endm

	.macro lifetime_door name, result
	generic \name
	tell_entry
	pass_\result
	end_function reprise_door_\name
	.endm

/* Where each door is, as a distance, so that loading the library costs no relocations; 0 where there is none. */
	.section .rodata.reprise_door_distances, "a", @progbits
	.balign 4
	.globl reprise_door_distances
	.hidden reprise_door_distances
reprise_door_distances:
	.section .text.reprise_exported, "ax", @progbits
	.globl reprise_exported_begin, reprise_exported_end
	.hidden reprise_exported_begin, reprise_exported_end
reprise_exported_begin:
	.text

	.macro row door
	.section .rodata.reprise_door_distances, "a", @progbits
	.ifc \door, none
	.long 0
	.else
	.hidden \door
	.long \door - .
	.endif
	.text
	.set entry, entry + 1
	.endm

	.macro ROW_WRAPPED name
	exported \name
	row reprise_door_\name
	.endm

	.macro ROW_BARRIER name, result
	exported \name
	barrier_door \name, \result
	row reprise_door_\name
	.endm

	.macro ROW_LIFETIME name, result
	exported \name
	lifetime_door \name, \result
	row reprise_door_\name
	.endm

#define RECORD(name, stream, form) ROW_WRAPPED name
#define ORDER(name, stream, form) ROW_BARRIER name, UNCHECKED
#define SYNC(name, stream, form, result) ROW_BARRIER name, result
#define LIFETIME(name, what, handle, form, result) ROW_LIFETIME name, result
#define OWN(name, stream, form) ROW_WRAPPED name
#define PASS(name) row none
#include "entry_points.def"

	.section .text.reprise_exported, "ax", @progbits
reprise_exported_end:
	.text

/* The spare doors: whatever they are given to takes arguments nobody here knows, so they look at no result. */
	.macro spare_door kind, number
	\kind spare_\number, UNCHECKED
	row reprise_door_spare_\number
	.endm

	.altmacro
	.set number, 0
	.rept REPRISE_SPARE_DOORS
	spare_door barrier_door, %number
	.set number, number + 1
	.endr
	.rept REPRISE_SPARE_STRICT_DOORS
	spare_door lifetime_door, %number
	.set number, number + 1
	.endr

	.section .note.GNU-stack, "", @progbits
