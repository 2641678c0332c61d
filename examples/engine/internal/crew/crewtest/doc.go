// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

// Package crewtest runs an example's test with all that its crew may be made of.
package crewtest
