package kernel

import (
	"github.com/halftone-ml/halftone/kernelext/magic"
	"github.com/halftone-ml/halftone/kernelext/session/admin"
	"github.com/halftone-ml/halftone/kernelext/session/store"
	"github.com/halftone-ml/halftone/kernelext/session/vault"
)

// keepSession makes the memory in which cells keep models and values, and names it to them. This process owns it: it outlives cells and
// GoNB, and goes with the kernel, killed or not. Where it can't be had, cells keep a file in GoNB's folder, as in stock GoNB.
//
// Memory of GPUs, which cells allocate, is kept by holding its files open: that needs no driver here.
func (k *kernel) keepSession(dir string, env []string) (release func(), _ []string) {
	owner, err := store.NewOwner(dir)
	if err != nil {
		k.logf("cells keep their session in a file: %v", err)
		return func() {}, env
	}
	env = setEnv(env, owner.Env())
	v := vault.New(owner.Path())
	name, stop, err := v.Serve(dir)
	if err != nil {
		k.logf("tensors of GPUs are kept in memory of the host: %v", err)
		k.magics.Sessions = sessions{admin.New(owner.Path(), nil, nil)}
		return func() { _ = owner.Close() }, env
	}
	gpu := &gpuTool{checkout: k.opts.Checkout, dir: dir, env: env}
	k.magics.Sessions = sessions{admin.New(owner.Path(), v, gpu.read)}
	warmed := func() {}
	if k.driver {
		warmed = k.warmInBackground(gpu)
	}
	return func() {
		warmed()
		stop()
		_ = owner.Close()
	}, setEnv(env, name)
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
