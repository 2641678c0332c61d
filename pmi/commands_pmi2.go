// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"fmt"
	"strconv"
	"strings"
)

// commandsPMI2 answers each request of PMI-2 with the fields of the reply, or "" for none. Both found= and rc= are always
// there: clients differ in which one they look at.
var commandsPMI2 = map[string]func(*session, Message) string{
	"fullinit":         (*session).fullInit,
	"job-getid":        (*session).jobGetID,
	"info-getjobattr":  (*session).getJobAttribute,
	"info-putnodeattr": (*session).putNodeAttribute,
	"info-getnodeattr": (*session).getNodeAttribute,
	"kvs-put":          (*session).kvsPut,
	"kvs-get":          (*session).kvsGet,
	"kvs-fence":        (*session).kvsFence,
	"name-publish":     (*session).namePublish,
	"name-lookup":      (*session).nameLookup,
	"name-unpublish":   (*session).nameUnpublish,
	"spawn":            (*session).spawnJob,
	"abort":            (*session).abort,
	"finalize":         (*session).finalizePMI2,
}

func (s *session) fullInit(Message) string {
	spawner := ""
	if s.server.world.Spawner != "" {
		spawner = "spawner-jobid=" + s.server.world.Spawner + ";"
	}
	return fmt.Sprintf("pmi-version=2;pmi-subversion=0;rank=%d;size=%d;appnum=%d;%sdebugged=FALSE;pmiverbose=FALSE;rc=0;",
		s.rank, s.server.world.Size, s.appnum, spawner)
}

func (s *session) jobGetID(Message) string { return "jobid=" + s.server.world.KVSName + ";rc=0;" }

func (s *session) getJobAttribute(m Message) string {
	key := m.Get("key")
	if key == "universeSize" {
		return foundPMI2(strconv.Itoa(s.server.world.Universe), s.server.world.Universe > 0)
	}
	// Anything else that is told to a whole job stands in its key-value space, as what a spawning rank put there.
	return foundPMI2(s.server.find(s.server.world.KVSName, key))
}

func (s *session) putNodeAttribute(m Message) string {
	err := s.allow(m, fitsPMI2)
	if err == nil {
		s.server.attributes.put(m.Get("key"), m.Get("value"))
	}
	return resultPMI2(err)
}

// getNodeAttribute with wait=TRUE answers when a rank of this host has put the attribute.
func (s *session) getNodeAttribute(m Message) string {
	key := m.Get("key")
	if m.Get("wait") != "TRUE" {
		return foundPMI2(s.server.attributes.get(key))
	}
	if !s.waits.add() {
		return resultPMI2(errFull)
	}
	s.server.attributes.await(key, func(value string, found bool) {
		s.waits.done()
		s.answer(m, foundPMI2(value, found))
	})
	return ""
}

// space returns the key-value space of the job that the request names, or of the rank's own.
func (s *session) space(m Message) string {
	if id := m.Get("jobid"); id != "" {
		return id
	}
	return s.server.world.KVSName
}

func (s *session) kvsPut(m Message) string {
	return resultPMI2(s.store(m, s.space(m), fitsPMI2))
}

// kvsGet is answered from what this host holds. That is right after a fence: it ends when every rank of the world has
// reached it and all puts are here, so that a key which is not here then is nowhere.
func (s *session) kvsGet(m Message) string {
	return foundPMI2(s.server.find(s.space(m), m.Get("key")))
}

func (s *session) kvsFence(m Message) string {
	if !s.enter(worldBarrier, entrance{m, s.takePuts(Group{World: true})}) {
		return resultPMI2(errFull)
	}
	return ""
}

func (s *session) namePublish(m Message) string {
	return resultPMI2(s.server.up.Publish(m.Get("name"), m.Get("port")))
}

func (s *session) nameUnpublish(m Message) string {
	return resultPMI2(s.server.up.Unpublish(m.Get("name")))
}

func (s *session) nameLookup(m Message) string {
	port, err := s.server.up.Lookup(m.Get("name"))
	if err != nil {
		return "found=FALSE;rc=1;"
	}
	return "port=" + port + ";found=TRUE;rc=0;"
}

func (s *session) finalizePMI2(m Message) string {
	s.finalize(m)
	return resultPMI2(nil)
}

func resultPMI2(err error) string {
	if err != nil {
		return fmt.Sprintf("rc=1;errmsg=%v;", err)
	}
	return "rc=0;"
}

// foundPMI2 answers a get. A semicolon ends a value, so one that holds it, which only PMI-1 can put, cannot be told.
func foundPMI2(value string, found bool) string {
	if !found || strings.ContainsRune(value, ';') {
		return "found=FALSE;rc=0;"
	}
	return "found=TRUE;value=" + value + ";rc=0;"
}

// fitsPMI2 reports whether clients can hold the value and a NUL.
func fitsPMI2(value string) bool { return len(value) < ValLenMax }
