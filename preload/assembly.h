/* clang-format off */
/* For the assembly files: a function, with its unwinding, and no executable stack. */

/* Where a jump through a pointer may land, as indirect branch tracking wants it. On aarch64 each function says so itself. */
	.macro landing
#if defined(__x86_64__)
	endbr64
#endif
	.endm

	.macro function name
	.balign 16
	.type \name, @function
\name:
	.cfi_startproc
	landing
	.endm

	.macro end_function name
	.cfi_endproc
	.size \name, . - \name
	.endm

	.macro hidden_function name
	.globl \name
	.hidden \name
	function \name
	.endm

	.section .note.GNU-stack, "", @progbits
	.text
