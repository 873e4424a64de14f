/* dlsym and dlopen, for aarch64: loader-x86_64.S says what they do. */
#include "assembly.h"

	.hidden reprise_real_dlsym_address, reprise_real_dlsym_find, reprise_dlsym

#define RTLD_DEEPBIND_BIT 3

	.macro keep_arguments
	stp x29, x30, [sp, #-32]!
	.cfi_adjust_cfa_offset 32
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	mov x29, sp
	stp x0, x1, [sp, #16]
	.endm

	.macro drop_frame
	ldp x29, x30, [sp], #32
	.cfi_adjust_cfa_offset -32
	.cfi_restore x29
	.cfi_restore x30
	.endm

/* The first call of all: asks where the C library's function is, and goes on there. */
	.macro first_call_to find
	keep_arguments
	bl \find
	mov x16, x0
	ldp x0, x1, [sp, #16]
	drop_frame
	cbz x16, 4f
	br x16
4:	mov x0, #0
	ret
	.endm

	loader_function dlsym, GLIBC_2.17
	hint #34 /* bti c */
	cbz x1, 1f
	ldrb w9, [x1]
	cmp w9, #'c'
	b.ne 1f
	ldrb w9, [x1, #1]
	cmp w9, #'u'
	b.ne 1f
	ldrb w9, [x1, #2]
	sub w9, w9, #'A'
	cmp w9, #'Z' - 'A'
	b.ls 3f

1:	adrp x16, reprise_real_dlsym_address
	ldr x16, [x16, #:lo12:reprise_real_dlsym_address]
	cbz x16, 2f
	br x16

2:	first_call_to reprise_real_dlsym_find

	/* Perhaps a name of the driver: its address in x0, and in x1 whether that is the answer. */
3:	mov x2, x30
	keep_arguments
	bl reprise_dlsym
	cbz x1, 5f
	drop_frame
	ret
	.cfi_adjust_cfa_offset 32
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
5:	ldp x0, x1, [sp, #16]
	drop_frame
	b 1b
	end_function reprise_dlsym_door

#ifndef ONLY_DLSYM
	.hidden reprise_real_dlopen_address, reprise_real_dlopen_find, reprise_dlopen_deep
	loader_function dlopen, GLIBC_2.17
	hint #34
	tbnz w1, #RTLD_DEEPBIND_BIT, 3f

1:	adrp x16, reprise_real_dlopen_address
	ldr x16, [x16, #:lo12:reprise_real_dlopen_address]
	cbz x16, 2f
	br x16

2:	first_call_to reprise_real_dlopen_find

3:	keep_arguments
	bl reprise_dlopen_deep
	ldp x0, x1, [sp, #16]
	drop_frame
	b 1b
	end_function reprise_dlopen_door
#endif
