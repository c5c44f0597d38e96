//go:build !linux

package vault

import "errors"

// Serve is for Linux, where GPUs are.
func (v *Vault) Serve(string) (env string, stop func(), err error) {
	return "", nil, errors.ErrUnsupported
}
