package driver

// A DataType is a cudaDataType: what matrices hold.
type DataType int32

// Data types of matrix products.
const (
	Float32  DataType = 0
	Float64  DataType = 1
	Float16  DataType = 2
	BFloat16 DataType = 14
)

// Size returns the bytes of an element.
func (t DataType) Size() int {
	switch t {
	case Float64:
		return 8
	case Float32:
		return 4
	}
	return 2
}

// A Gemm is C = Alpha·op(A)·op(B) + Beta·C on row-major matrices: op(A) is M×K, op(B) K×N, C M×N. LDA, LDB and LDC are the elements
// from one row to the next of the matrices as they are stored: A is M×K, or K×M if TransA.
//
// Products are accumulated in float32, in float64 for Float64. Float16 and BFloat16 operands may have a C of their own type or of
// Float32; otherwise all three are of one type. With TF32, Float32 operands lose 13 bits of their fractions on the way in.
type Gemm struct {
	Op             string // of the table, for errors
	M, N, K        int
	TransA, TransB bool
	A, B, C        DevicePtr
	TypeAB, TypeC  DataType
	LDA, LDB, LDC  int
	Alpha, Beta    float64
	TF32           bool

	// Batch products, if it is more than 1, of matrices that are these elements apart; 0 is the same matrix for all.
	Batch                     int
	StrideA, StrideB, StrideC int64
}

// An Epilogue is what a matrix product does to its result before it is stored. The bits are cublasLtEpilogue_t's.
type Epilogue int32

// Epilogues. GELU is the approximation by tanh. Those with Aux also store what the backward pass needs.
const (
	NoEpilogue  Epilogue = 1
	ReLU        Epilogue = 2
	Bias        Epilogue = 4
	ReLUBias    Epilogue = ReLU | Bias
	GELU        Epilogue = 32
	GELUBias    Epilogue = GELU | Bias
	GELUAux     Epilogue = GELU | 128     // Aux is the value before GELU, of C's type
	GELUAuxBias Epilogue = GELUBias | 128 // the same, after the bias
)

// A Fused is a Gemm with an epilogue: C = epilogue(Alpha·op(A)·op(B) + Beta·C + Bias), the bias a row of N elements of C's type.
// With Beta other than 0 the library may round the product to C's type before it adds Beta·C (bfloat16 on an H200, CUDA 13.1).
type Fused struct {
	Gemm
	Epilogue Epilogue
	Bias     DevicePtr
	Aux      DevicePtr // M×N, LDAux from one row to the next, a multiple of 8
	LDAux    int
}
