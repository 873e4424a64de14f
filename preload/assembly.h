/* For the assembly files: a function, with its unwinding, and no executable stack. */
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

	.macro hidden_function name
	.globl \name
	.hidden \name
	function \name
	.endm

	.section .note.GNU-stack, "", @progbits
	.text
