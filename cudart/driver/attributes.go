package driver

// The numbers of this package, 236 of them (attributes, enumerations, error codes, sizes and offsets of structs, of the driver, cuBLAS,
// cuBLASLt, NVRTC and cuDNN's backend), were compared on 23 November 2026 with NVIDIA's headers by a program in C: with those of CUDA 13.5
// and 12.6, cuBLAS 13.10 and 12.6.4, and cuDNN 9.28.1. None differed.

// An Attribute is a CUdevice_attribute.
type Attribute int32

// The attributes that Properties is read from, and some that kernels are tuned by.
const (
	MaxThreadsPerBlock     Attribute = 1
	MaxGridX               Attribute = 5
	MaxGridY               Attribute = 6
	SharedPerBlock         Attribute = 8
	WarpSize               Attribute = 10
	ClockKHz               Attribute = 13
	Multiprocessors        Attribute = 16
	Integrated             Attribute = 18
	MemoryClockKHz         Attribute = 36
	MemoryBusBits          Attribute = 37
	L2Bytes                Attribute = 38
	MaxThreadsPerMP        Attribute = 39
	CapabilityMajor        Attribute = 75
	CapabilityMinor        Attribute = 76
	SharedPerMP            Attribute = 81
	RegistersPerMP         Attribute = 82
	CooperativeLaunch      Attribute = 95
	SharedPerBlockOptin    Attribute = 97
	VirtualMemory          Attribute = 102
	ExportsFileDescriptors Attribute = 103
	MaxPersistingL2        Attribute = 108
	MemoryPools            Attribute = 115
)

// A FunctionAttribute is a CUfunction_attribute.
type FunctionAttribute int32

// Attributes of kernels; those with "set" can be given to SetFunctionAttribute.
const (
	FuncMaxThreads     FunctionAttribute = 0 // threads per block
	FuncSharedBytes    FunctionAttribute = 1 // static shared memory
	FuncConstBytes     FunctionAttribute = 2
	FuncLocalBytes     FunctionAttribute = 3 // spills and local arrays, per thread
	FuncRegisters      FunctionAttribute = 4 // per thread
	FuncPTXVersion     FunctionAttribute = 5
	FuncBinaryVersion  FunctionAttribute = 6
	FuncDynamicShared  FunctionAttribute = 8 // set: dynamic shared bytes that a launch may ask for
	FuncSharedCarveout FunctionAttribute = 9 // set: percent of L1 to use as shared memory, -1 is the driver's choice
)
