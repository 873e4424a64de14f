/*
 * dlsym, for x86-64. Every name that does not begin with "cu" and a capital is none of our business: a jump to the C
 * library's dlsym, which then sees the program's return address and so knows who called. No stack is used on that way,
 * no lock, nothing that has to be initialised.
 */
	.hidden reprise_real_dlsym_address, reprise_real_dlsym_find, reprise_dlsym

	.text
	.balign 16
	.globl dlsym
	.type dlsym, @function
dlsym:
	.cfi_startproc
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
2:	pushq %rdi
	.cfi_adjust_cfa_offset 8
	pushq %rsi
	.cfi_adjust_cfa_offset 8
	subq $8, %rsp
	.cfi_adjust_cfa_offset 8
	call reprise_real_dlsym_find
	addq $8, %rsp
	.cfi_adjust_cfa_offset -8
	popq %rsi
	.cfi_adjust_cfa_offset -8
	popq %rdi
	.cfi_adjust_cfa_offset -8
	testq %rax, %rax
	je 4f
	jmp *%rax

	/* Perhaps a name of the driver. */
3:	pushq %rdi
	.cfi_adjust_cfa_offset 8
	pushq %rsi
	.cfi_adjust_cfa_offset 8
	movq 16(%rsp), %rdx
	subq $8, %rsp
	.cfi_adjust_cfa_offset 8
	call reprise_dlsym
	addq $8, %rsp
	.cfi_adjust_cfa_offset -8
	popq %rsi
	.cfi_adjust_cfa_offset -8
	popq %rdi
	.cfi_adjust_cfa_offset -8
	testq %rdx, %rdx
	je 1b
4:	ret
	.cfi_endproc
	.size dlsym, . - dlsym

	.section .note.GNU-stack, "", @progbits
