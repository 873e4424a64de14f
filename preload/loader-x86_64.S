/*
 * dlsym and dlopen, for x86-64. What is none of our business, every name that does not begin with "cu" and a capital, is a
 * jump to the C library's function, which then sees the program's return address and so knows who called. No stack is used on that way,
 * no lock, nothing that has to be initialised.
 */
#include "assembly.h"

	.hidden reprise_real_dlsym_address, reprise_real_dlsym_find, reprise_dlsym

#define RTLD_DEEPBIND 8

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

	loader_function dlsym, GLIBC_2.2.5
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

#ifndef ONLY_DLSYM
	.hidden reprise_real_dlopen_address, reprise_real_dlopen_find, reprise_dlopen_deep
	loader_function dlopen, GLIBC_2.2.5
	testl $RTLD_DEEPBIND, %esi
	jne 3f

1:	movq reprise_real_dlopen_address(%rip), %rax
	testq %rax, %rax
	je 2f
	jmp *%rax

	/* The first call of all. */
2:	call_keeping_arguments reprise_real_dlopen_find
	testq %rax, %rax
	je 4f
	jmp *%rax

3:	call_keeping_arguments reprise_dlopen_deep
	jmp 1b
4:	ret
	end_function reprise_dlopen_door
#endif
