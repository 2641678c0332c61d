// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"fmt"
	"strconv"
)

// commands answers each request of PMI 1.1 with a reply line, or "" for none.
var commands = map[string]func(*session, Message) string{
	"init":              (*session).init,
	"get_maxes":         (*session).getMaxes,
	"get_appnum":        (*session).getAppnum,
	"get_universe_size": (*session).getUniverseSize,
	"get_my_kvsname":    (*session).getMyKVSName,
	"put":               (*session).put,
	"get":               (*session).get,
	"getbyidx":          (*session).getByIdx,
	"create_kvs":        (*session).createKVS,
	"destroy_kvs":       (*session).destroyKVS,
	"barrier_in":        (*session).barrierIn,
	"publish_name":      (*session).publishName,
	"lookup_name":       (*session).lookupName,
	"unpublish_name":    (*session).unpublishName,
	"spawn":             (*session).spawn,
	"abort":             (*session).abort,
	"finalize":          (*session).finalize,
}

func (s *session) init(m Message) string {
	if v := m.Get("pmi_version"); v != "1" {
		s.warn("version", fmt.Sprintf("PMI version %s is not served; set PMI_VERSION=1", quote(v)))
		return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=-1"
	}
	if !s.initialized {
		s.initialized = true
		s.server.events.Initialized(s.rank)
	}
	return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"
}

func (s *session) getMaxes(Message) string {
	return fmt.Sprintf("cmd=maxes kvsname_max=%d keylen_max=%d vallen_max=%d", KVSNameMax, KeyLenMax, ValLenMax)
}

func (s *session) getAppnum(Message) string { return fmt.Sprintf("cmd=appnum appnum=%d", s.appnum) }

// getUniverseSize answers -1: no limit is known.
func (s *session) getUniverseSize(Message) string { return "cmd=universe_size size=-1" }

func (s *session) getMyKVSName(Message) string {
	return "cmd=my_kvsname kvsname=" + s.server.world.KVSName
}

// put makes the value visible on this host at once and to the others after the next barrier.
func (s *session) put(m Message) string {
	e := Entry{m.Get("kvsname"), m.Get("key"), m.Get("value")}
	refuse := func(reason string) string { return "cmd=put_result rc=-1 msg=" + reason }
	_, _, reserved := s.server.builtin(e.Key)
	switch {
	case e.Key == "":
		return refuse("no_key")
	case reserved:
		return refuse("reserved_key")
	case len(e.Key) >= maxRequest/2 || !fitsReply(e.Value):
		s.warn("long value", fmt.Sprintf("PMI value of key %s does not fit a reply of %d bytes", quote(e.Key), maxReply))
		return refuse("value_too_long")
	case s.stored+len(e.Key)+len(e.Value) > maxPuts:
		s.warn("space", fmt.Sprintf("PMI puts exceed %d bytes", maxPuts))
		return refuse("kvs_full")
	case !s.server.kvs.put(e):
		return refuse("kvsname_not_found")
	}
	s.stored += len(e.Key) + len(e.Value)
	s.pending = append(s.pending, e)
	return "cmd=put_result rc=0 msg=success"
}

func (s *session) get(m Message) string {
	key := m.Get("key")
	value, found, reserved := s.server.builtin(key)
	if !reserved {
		value, found = s.server.kvs.get(m.Get("kvsname"), key)
	}
	switch {
	case !found:
		return fmt.Sprintf("cmd=get_result rc=-1 msg=key_%s_not_found value=unknown", replyName(key))
	case len(getReply)+len(value)+1 > maxReply:
		return getReplyShort + value
	}
	return getReply + value
}

func (s *session) getByIdx(m Message) string {
	idx, err := strconv.Atoi(m.Get("idx"))
	if err != nil {
		return "cmd=getbyidx_results rc=-1 reason=bad_index"
	}
	e, found := s.server.kvs.at(m.Get("kvsname"), idx)
	if !found {
		return "cmd=getbyidx_results rc=-2 reason=no_more_keyvals"
	}
	return fmt.Sprintf("cmd=getbyidx_results rc=0 nextidx=%d key=%s val=%s", idx+1, e.Key, e.Value)
}

func (s *session) createKVS(Message) string {
	name, ok := s.server.createSpace()
	if !ok {
		return "cmd=newkvs rc=-1 msg=too_many_spaces"
	}
	return "cmd=newkvs kvsname=" + name
}

func (s *session) destroyKVS(m Message) string {
	if name := m.Get("kvsname"); name == s.server.world.KVSName || !s.server.kvs.destroy(name) {
		return "cmd=kvs_destroyed rc=-1 msg=kvsname_not_found"
	}
	return "cmd=kvs_destroyed rc=0 msg=success"
}

// barrierIn answers when the barrier is complete, and leaves the session free meanwhile: another thread of a
// rank that waits may abort the job on the same connection.
func (s *session) barrierIn(Message) string {
	if !s.inBarrier.CompareAndSwap(false, true) {
		return "cmd=barrier_out rc=-1 msg=in_barrier_already"
	}
	puts := s.pending
	s.pending = nil
	go func() {
		answer := "cmd=barrier_out"
		if _, err := s.server.gather.Exchange(1, puts); err != nil {
			answer += " rc=-1 msg=barrier_failed"
		}
		s.inBarrier.Store(false)
		_ = s.reply(answer) // a connection that is gone shows in the session's next read
	}()
	return ""
}

func (s *session) publishName(m Message) string {
	return nameReply("publish", s.server.up.Publish(m.Get("service"), m.Get("port")))
}

func (s *session) unpublishName(m Message) string {
	return nameReply("unpublish", s.server.up.Unpublish(m.Get("service")))
}

func nameReply(what string, err error) string {
	if err != nil {
		return fmt.Sprintf("cmd=%s_result info=ok rc=1 msg=%v", what, err)
	}
	return fmt.Sprintf("cmd=%s_result info=ok rc=0 msg=success", what)
}

func (s *session) lookupName(m Message) string {
	port, err := s.server.up.Lookup(m.Get("service"))
	if err != nil {
		return fmt.Sprintf("cmd=lookup_result rc=1 msg=%v", err)
	}
	return fmt.Sprintf("cmd=lookup_result port=%s info=ok rc=0 msg=success", port)
}

func (s *session) spawn(Message) string {
	s.warn("spawn", "MPI_Comm_spawn is not supported")
	return "cmd=spawn_result rc=-1 msg=spawn_not_supported"
}

// abort reads the exit code under the names of MPICH (exitcode) and Flux (exit_code).
func (s *session) abort(m Message) string {
	text := m.Get("message") + m.Get("error_msg")
	code, err := strconv.Atoi(m.Get("exitcode") + m.Get("exit_code"))
	if err != nil {
		code = 1
	}
	s.aborted = true
	s.server.events.Aborted(s.rank, code, text)
	return ""
}

func (s *session) finalize(Message) string {
	s.finalized = true
	return "cmd=finalize_ack"
}
