#include "attribute.h"

#define MEMBER(name) sizeof(((CUlaunchAttributeValue *)NULL)->name)

static const size_t sizes[CU_LAUNCH_ATTRIBUTE_MAX] = {
	[CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW] = MEMBER(accessPolicyWindow),
	[CU_LAUNCH_ATTRIBUTE_COOPERATIVE] = MEMBER(cooperative),
	[CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY] = MEMBER(syncPolicy),
	[CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION] = MEMBER(clusterDim),
	[CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE] =
		MEMBER(clusterSchedulingPolicyPreference),
	[CU_LAUNCH_ATTRIBUTE_PRIORITY] = MEMBER(priority),
	[CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP] = MEMBER(memSyncDomainMap),
	[CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN] = MEMBER(memSyncDomain),
	[CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = MEMBER(sharedMemCarveout),
};

/* Measured: a stream's synchronisation policy is at first none that could be set, a node's cluster
 * scheduling policy is to spread. */
CUlaunchAttributeValue sim_attribute_default(CUlaunchAttributeID id)
{
	CUlaunchAttributeValue value = {0};

	if (id == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY)
		value.syncPolicy = (CUsynchronizationPolicy)-1;
	if (id == CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
		value.clusterSchedulingPolicyPreference = CU_CLUSTER_SCHEDULING_POLICY_SPREAD;
	if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)
		value.memSyncDomainMap.remote = 1;
	return value;
}

void sim_attribute_tell(CUlaunchAttributeValue *told, CUlaunchAttributeID id,
                        const CUlaunchAttributeValue *value)
{
	memcpy(told, value, id < CU_LAUNCH_ATTRIBUTE_MAX && sizes[id] ? sizes[id] : sizeof(*value));
}
