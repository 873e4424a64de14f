/*
 * dlsym, for x86-64. Every name that does not begin with "cu" and a capital is none of our business: a jump to the C
 * library's dlsym, which then sees the program's return address and so knows who called. No stack is used on that way,
 * no lock, nothing that has to be initialised.
 */
#include "assembly.h"

	.hidden reprise_real_dlsym_address, reprise_real_dlsym_find, reprise_dlsym

/* Calls with the arguments kept, and the stack aligned. */
	.macro call_keeping_arguments name
	pushq %rdi
	.cfi_adjust_cfa_offset 8
	pushq %rsi
	.cfi_adjust_cfa_offset 8
	subq $8, %rsp
	.cfi_adjust_cfa_offset 8
	call \name
	addq $8, %rsp
	.cfi_adjust_cfa_offset -8
	popq %rsi
	.cfi_adjust_cfa_offset -8
	popq %rdi
	.cfi_adjust_cfa_offset -8
	.endm

	.globl reprise_dlsym_door, reprise_dlsym_door_first
	.symver reprise_dlsym_door, dlsym@@GLIBC_2.34
	.symver reprise_dlsym_door_first, dlsym@GLIBC_2.2.5
	.set reprise_dlsym_door_first, reprise_dlsym_door
	function reprise_dlsym_door
	testq %rsi, %rsi
	je 1f
	cmpb $'c', (%rsi)
	jne 1f
	cmpb $'u', 1(%rsi)
	jne 1f
	movzbl 2(%rsi), %eax
	subl $'A', %eax
	cmpl $'Z' - 'A', %eax
	jbe 3f

1:	movq reprise_real_dlsym_address(%rip), %rax
	testq %rax, %rax
	je 2f
	jmp *%rax

	/* The first call of all. */
2:	call_keeping_arguments reprise_real_dlsym_find
	testq %rax, %rax
	je 4f
	jmp *%rax

	/* Perhaps a name of the driver: its address in %rax, and in %rdx whether that is the answer. */
3:	movq (%rsp), %rdx
	call_keeping_arguments reprise_dlsym
	testq %rdx, %rdx
	je 1b
4:	ret
	end_function reprise_dlsym_door
