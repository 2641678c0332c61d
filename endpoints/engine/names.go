// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package engine

// modelNames has a name for each model there is.
var modelNames = [...]string{
	Private: "private", Global: "global", PerVNI: "per-vni", Offload: "offload", HMCS: "hmcs", CSync: "csync", LockQ: "lockq", Concurrent: "concurrent",
}

// Models returns all models.
func Models() (all []Model) {
	for m := range modelNames {
		all = append(all, Model(m))
	}
	return all
}

// String returns the model's name, as options of commands take it.
func (m Model) String() string { return modelNames[m] }
