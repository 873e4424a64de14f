/* src/nvtx/protocol.h is what NVTX's own headers say. Compiling it is the test. */
#include <nvtx3/nvToolsExt.h>

#include "nvtx/protocol.h"

#define SAME(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #ours)
#define SAME_PLACE(field, own_field) \
	SAME(offsetof(struct reprise_nvtx_event, own_field), offsetof(nvtxEventAttributes_t, field)); \
	SAME(sizeof(((struct reprise_nvtx_event *)NULL)->own_field), \
	     sizeof(((nvtxEventAttributes_t *)NULL)->field))

SAME(REPRISE_NVTX_VERSION, NVTX_VERSION);
SAME(REPRISE_NVTX_NO_TRACKING, NVTX_NO_PUSH_POP_TRACKING);
#define X(module, number, size) \
	SAME(number, NVTX_CB_MODULE_##module); \
	SAME(size, NVTX_CBID_##module##_SIZE);
REPRISE_NVTX_MODULES(X)
#undef X
SAME(REPRISE_NVTX_MODULES_END, NVTX_CB_MODULE_SIZE);
SAME(REPRISE_NVTX_PUSH_EX, NVTX_CBID_CORE_RangePushEx);
SAME(REPRISE_NVTX_PUSH_A, NVTX_CBID_CORE_RangePushA);
SAME(REPRISE_NVTX_PUSH_W, NVTX_CBID_CORE_RangePushW);
SAME(REPRISE_NVTX_POP, NVTX_CBID_CORE_RangePop);
SAME(REPRISE_NVTX_DOMAIN_PUSH_EX, NVTX_CBID_CORE2_DomainRangePushEx);
SAME(REPRISE_NVTX_DOMAIN_POP, NVTX_CBID_CORE2_DomainRangePop);
SAME(REPRISE_NVTX_REGISTER_A, NVTX_CBID_CORE2_DomainRegisterStringA);
SAME(REPRISE_NVTX_REGISTER_W, NVTX_CBID_CORE2_DomainRegisterStringW);
SAME(REPRISE_NVTX_CREATE_A, NVTX_CBID_CORE2_DomainCreateA);
SAME(REPRISE_NVTX_CREATE_W, NVTX_CBID_CORE2_DomainCreateW);
SAME(REPRISE_NVTX_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME(REPRISE_NVTX_VERSION_INFO, NVTX_ETID_VERSIONINFO);
SAME(sizeof(struct reprise_nvtx_callbacks), sizeof(NvtxExportTableCallbacks));
SAME(offsetof(struct reprise_nvtx_callbacks, table_of),
     offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable));
SAME(sizeof(struct reprise_nvtx_version_info), sizeof(NvtxExportTableVersionInfo));
SAME(offsetof(struct reprise_nvtx_version_info, version),
     offsetof(NvtxExportTableVersionInfo, version));
SAME(offsetof(struct reprise_nvtx_version_info, set_version),
     offsetof(NvtxExportTableVersionInfo, SetInjectionNvtxVersion));
SAME(REPRISE_NVTX_ASCII, NVTX_MESSAGE_TYPE_ASCII);
SAME(REPRISE_NVTX_WIDE, NVTX_MESSAGE_TYPE_UNICODE);
SAME(REPRISE_NVTX_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
SAME(REPRISE_NVTX_UNSIGNED_64, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64);
SAME(sizeof(struct reprise_nvtx_event), sizeof(nvtxEventAttributes_t));
SAME_PLACE(version, version);
SAME_PLACE(size, size);
SAME_PLACE(category, category);
SAME_PLACE(colorType, color_kind);
SAME_PLACE(color, color);
SAME_PLACE(payloadType, payload_kind);
SAME_PLACE(payload, payload);
SAME_PLACE(messageType, message_kind);
SAME_PLACE(message, message);

int main(void)
{
	return 0;
}
