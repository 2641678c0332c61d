// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import "slices"

// Report is what doctor has to say. As JSON it is one object: the fields of Facts, then
// "findings", and "ok", which is false if there is an error among them. Names of fields
// stay; new ones may come.
//
// Sizes are bytes. A number that is -1 is "unlimited", -2 could not be found out.
type Report struct {
	Facts
	Findings []Finding `json:"findings"`
	OK       bool      `json:"ok"`
}

// NewReport judges the facts.
func NewReport(f Facts) Report {
	findings := Judge(f)
	if findings == nil {
		findings = []Finding{}
	}
	bad := func(f Finding) bool { return f.Severity == Error }
	return Report{Facts: f, Findings: findings, OK: !slices.ContainsFunc(findings, bad)}
}
