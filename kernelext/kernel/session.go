package kernel

import (
	"github.com/halftone-ml/halftone/kernelext/magic"
	"github.com/halftone-ml/halftone/kernelext/session/admin"
	"github.com/halftone-ml/halftone/kernelext/session/store"
)

// keepSession makes the memory in which cells keep models and values, and names it to them. This process owns it: it outlives cells and
// GoNB, and goes with the kernel, killed or not. Where it can't be had, cells keep a file in GoNB's folder, as in stock GoNB.
func (k *kernel) keepSession(dir string, env []string) (*store.Owner, []string) {
	owner, err := store.NewOwner(dir)
	if err != nil {
		k.logf("cells keep their session in a file: %v", err)
		return nil, env
	}
	k.magics.Sessions = sessions{admin.New(owner.Path())}
	return owner, setEnv(env, owner.Env())
}

// sessions is what %amp session works on.
type sessions struct{ admin.Admin }

func (s sessions) List() ([]magic.Object, error) {
	entries, err := s.Admin.List()
	list := make([]magic.Object, len(entries))
	for i, e := range entries {
		list[i] = magic.Object{Name: e.Name, Kind: e.Kind, Bytes: e.Bytes, Detail: e.Detail()}
	}
	return list, err
}
