//go:build gorgonia_cu

package gorgoniacu

import "github.com/halftone-ml/halftone/cudart/driver"

// What gorgonia.org/cu v0.9.6 has no functions for: stream-ordered allocation, captured graphs, memory shared by processes.

func (cuDriver) AllocAsync(uint64, driver.Stream) (driver.DevicePtr, error) {
	return 0, unsupported("cuMemAllocAsync")
}
func (cuDriver) FreeAsync(driver.DevicePtr, driver.Stream) error {
	return unsupported("cuMemFreeAsync")
}
func (cuDriver) AllocFromPool(uint64, driver.MemPool, driver.Stream) (driver.DevicePtr, error) {
	return 0, unsupported("cuMemAllocFromPoolAsync")
}
func (cuDriver) DefaultPool(driver.Device) (driver.MemPool, error) {
	return 0, unsupported("cuDeviceGetDefaultMemPool")
}
func (cuDriver) NewPool(driver.Device) (driver.MemPool, error) {
	return 0, unsupported("cuMemPoolCreate")
}
func (cuDriver) DestroyPool(driver.MemPool) error { return unsupported("cuMemPoolDestroy") }
func (cuDriver) SetPoolThreshold(driver.MemPool, uint64) error {
	return unsupported("cuMemPoolSetAttribute")
}
func (cuDriver) TrimPool(driver.MemPool, uint64) error { return unsupported("cuMemPoolTrimTo") }
func (cuDriver) PoolStats(driver.MemPool) (driver.PoolStats, error) {
	return driver.PoolStats{}, unsupported("cuMemPoolGetAttribute")
}

func (cuDriver) BeginCapture(driver.Stream) error { return unsupported("cuStreamBeginCapture") }
func (cuDriver) EndCapture(driver.Stream) (driver.Graph, error) {
	return 0, unsupported("cuStreamEndCapture")
}
func (cuDriver) Capturing(driver.Stream) (bool, error) {
	return false, unsupported("cuStreamIsCapturing")
}
func (cuDriver) GraphNodes(driver.Graph) (int, error) { return 0, unsupported("cuGraphGetNodes") }
func (cuDriver) Instantiate(driver.Graph) (driver.GraphExec, error) {
	return 0, unsupported("cuGraphInstantiateWithFlags")
}
func (cuDriver) LaunchGraph(driver.GraphExec, driver.Stream) error {
	return unsupported("cuGraphLaunch")
}
func (cuDriver) DestroyGraph(driver.Graph) error { return unsupported("cuGraphDestroy") }
func (cuDriver) DestroyGraphExec(driver.GraphExec) error {
	return unsupported("cuGraphExecDestroy")
}

func (cuDriver) Export(driver.Device, uint64) (driver.Shared, error) {
	return driver.Shared{}, unsupported("cuMemCreate")
}
func (cuDriver) ExportFD(driver.Shared) (int, error) {
	return -1, unsupported("cuMemExportToShareableHandle")
}
func (cuDriver) Import(driver.Device, int, uint64) (driver.Shared, error) {
	return driver.Shared{}, unsupported("cuMemImportFromShareableHandle")
}
func (cuDriver) ReleaseShared(driver.Shared) error { return unsupported("cuMemUnmap") }
func (cuDriver) IPCHandle(driver.DevicePtr) (driver.IPCHandle, error) {
	return driver.IPCHandle{}, unsupported("cuIpcGetMemHandle")
}
func (cuDriver) OpenIPC(driver.IPCHandle) (driver.DevicePtr, error) {
	return 0, unsupported("cuIpcOpenMemHandle")
}
func (cuDriver) CloseIPC(driver.DevicePtr) error { return unsupported("cuIpcCloseMemHandle") }
