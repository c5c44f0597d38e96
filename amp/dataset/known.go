package dataset

// A known file is one whose publisher's checksum is on record.
type known struct {
	name  string
	bytes int64
	sum   string
}

// CIFAR-10: the archive's MD5 is the one on its authors' page. The sums of the files in it are those of that archive's content.
var cifar10Known = []known{
	{"cifar-10-binary.tar.gz", 170052171, "md5:c32a1d4ab5d03f1284b67883e8d87530"},
	{"data_batch_1.bin", 30730000, "md5:5dd7e06a14cb22eb9f671a540d1b7c25"},
	{"data_batch_2.bin", 30730000, "md5:5ea93a67294ea407fff1d09f752e9692"},
	{"data_batch_3.bin", 30730000, "md5:942cd6a4bcdd0dd3c604fbe906cb4421"},
	{"data_batch_4.bin", 30730000, "md5:ae636b3ba5c66a11e91e8cb52e771fcb"},
	{"data_batch_5.bin", 30730000, "md5:53f37980c15c3d472c316c40844f3f0d"},
	{"test_batch.bin", 30730000, "md5:803d5f7f4d78ea53de84dbe85f74fb6d"},
}

// MNIST and Fashion-MNIST, as published (.gz) and unpacked.
var (
	mnistKnown = []known{
		{"train-images-idx3-ubyte.gz", 9912422, "md5:f68b3c2dcbeaaa9fbdd348bbdeb94873"},
		{"train-labels-idx1-ubyte.gz", 28881, "md5:d53e105ee54ea40749a09fcbcd1e9432"},
		{"t10k-images-idx3-ubyte.gz", 1648877, "md5:9fb629c4189551a2d022fa330f9573f3"},
		{"t10k-labels-idx1-ubyte.gz", 4542, "md5:ec29112dd5afa0611ce80d1b7f02629c"},
		{"train-images-idx3-ubyte", 47040016, "md5:6bbc9ace898e44ae57da46a324031adb"},
		{"train-labels-idx1-ubyte", 60008, "md5:a25bea736e30d166cdddb491f175f624"},
		{"t10k-images-idx3-ubyte", 7840016, "md5:2646ac647ad5339dbf082846283269ea"},
		{"t10k-labels-idx1-ubyte", 10008, "md5:27ae3e4e09519cfbb04c329615203637"},
	}
	fashionKnown = []known{
		{"train-images-idx3-ubyte.gz", 26421880, "md5:8d4fb7e6c68d591d4c3dfef9ec88bf0d"},
		{"train-labels-idx1-ubyte.gz", 29515, "md5:25c81989df183df01b3e8a0aad5dffbe"},
		{"t10k-images-idx3-ubyte.gz", 4422102, "md5:bef4ecab320f06d8554ea6380940ec79"},
		{"t10k-labels-idx1-ubyte.gz", 5148, "md5:bb300cfdad3c16e7a12a480ee83cd310"},
		{"train-images-idx3-ubyte", 47040016, "md5:f4a8712d7a061bf5bd6d2ca38dc4d50a"},
		{"train-labels-idx1-ubyte", 60008, "md5:9018921c3c673c538a1fc5bad174d6f9"},
		{"t10k-images-idx3-ubyte", 7840016, "md5:8181f5470baa50b63fa0f6fddb340f0a"},
		{"t10k-labels-idx1-ubyte", 10008, "md5:15d484375f8d13e6eb1aabb0c3f46965"},
	}
)

// Class names of the sets that do not carry them.
var (
	cifar10Classes = []string{"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"}
	mnistClasses   = []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}
	fashionClasses = []string{"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"}
)

// recognize names the set and the file that a checksum belongs to, "" if they are none of ours.
func recognize(sum string) (set, file string) {
	for _, s := range []struct {
		name  string
		files []known
	}{{"CIFAR-10", cifar10Known}, {"MNIST", mnistKnown}, {"Fashion-MNIST", fashionKnown}} {
		for _, k := range s.files {
			if k.sum == sum {
				return s.name, k.name
			}
		}
	}
	return "", ""
}
