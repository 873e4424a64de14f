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

/* dlsym and dlopen: a function that is exported in the versions of the C library, by which others ask for it. `first` is the machine's first
 * version. Who exports dlsym alone, and for those only who name no version, defines ONLY_DLSYM. */
	.macro loader_function name, first
#ifdef ONLY_DLSYM
	.globl \name
	.hidden reprise_\name\()_door
	.set \name, reprise_\name\()_door
#else
	.globl reprise_\name\()_door, reprise_\name\()_door_first
	.symver reprise_\name\()_door, \name@@GLIBC_2.34
	.symver reprise_\name\()_door_first, \name@\first
	.set reprise_\name\()_door_first, reprise_\name\()_door
#endif
	function reprise_\name\()_door
	.endm

	.section .note.GNU-stack, "", @progbits
	.text
