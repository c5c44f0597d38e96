//go:build !unix

package widgets

import "errors"

// makePipe says that there are no named pipes: GoNB does not run here.
func makePipe(string) error { return errors.ErrUnsupported }
