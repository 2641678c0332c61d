// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

package pmi

import (
	"fmt"
	"strconv"
	"strings"
)

// commands answers each request of PMI-1 with a reply line, or "" for none.
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

// subversions are the versions served. Subversion 2 of version 1 offers group barriers; clients that do not know them do not
// look at it.
var subversions = map[string]int{"1": 2, "2": 0}

// init starts a session of either version; its request and reply are lines of PMI-1 in both.
func (s *session) init(m Message) string {
	version := m.Get("pmi_version")
	if _, served := subversions[version]; !served {
		s.warn("version", fmt.Sprintf("PMI version %s is not served; set PMI_VERSION=1", quote(version)))
		return "cmd=response_to_init pmi_version=1 pmi_subversion=2 rc=-1"
	}
	if !s.initialized {
		s.initialized = true
		s.server.events.Initialized(s.rank)
	}
	return initReply(m)
}

func initReply(m Message) string {
	version := m.Get("pmi_version")
	return fmt.Sprintf("cmd=response_to_init pmi_version=%s pmi_subversion=%d rc=0", version, subversions[version])
}

func (s *session) getMaxes(Message) string {
	return fmt.Sprintf("cmd=maxes kvsname_max=%d keylen_max=%d vallen_max=%d", KVSNameMax, KeyLenMax, ValLenMax)
}

func (s *session) getAppnum(Message) string { return fmt.Sprintf("cmd=appnum appnum=%d", s.appnum) }

// getUniverseSize answers -1 where no limit is known.
func (s *session) getUniverseSize(Message) string {
	return fmt.Sprintf("cmd=universe_size size=%d", s.server.world.universe())
}

func (s *session) getMyKVSName(Message) string {
	return "cmd=my_kvsname kvsname=" + s.server.world.KVSName
}

func (s *session) put(m Message) string {
	if err := s.store(m, m.Get("kvsname"), fitsReply); err != nil {
		return fmt.Sprintf("cmd=put_result rc=-1 msg=%v", err)
	}
	return "cmd=put_result rc=0 msg=success"
}

func (s *session) get(m Message) string {
	key := m.Get("key")
	value, found := s.server.find(m.Get("kvsname"), key)
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

// barrierIn answers when the barrier is complete, and leaves the session free meanwhile: a rank may be in several, and
// another thread of a rank that waits may abort the job on the same connection.
func (s *session) barrierIn(m Message) string {
	barrier, given := m.Lookup("group")
	if !given {
		barrier = worldBarrier
	}
	group, err := ParseGroup(barrier)
	switch {
	case err != nil || !group.admits(s.rank, s.server.world.Size):
		s.warn("group", fmt.Sprintf("PMI barrier of group %s is not one of this rank", quote(barrier)))
		return "cmd=barrier_out rc=-1 msg=bad_group"
	case !s.enter(barrier, entrance{m, s.takePuts(group)}):
		return "cmd=barrier_out rc=-1 msg=too_many_barriers"
	}
	return ""
}

// barrierReply is the answer to a barrier that has ended, in either version.
func barrierReply(request Message, err error) string {
	if request.isPMI2 {
		return resultPMI2(err)
	}
	answer := "cmd=barrier_out"
	if barrier, given := request.Lookup("group"); given {
		_, tag, _ := strings.Cut(barrier, ":")
		answer += " tag=" + tag
	}
	if err != nil {
		answer += " rc=-1 msg=barrier_failed"
	}
	return answer
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

// abort reads the exit code under the names of MPICH (exitcode) and Flux (exit_code), and the text also under that of old
// clients of PMI-2 (msg). There is no reply.
func (s *session) abort(m Message) string {
	text := m.Get("message") + m.Get("error_msg") + m.Get("msg")
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
	s.server.events.Finalized(s.rank) // before the answer, as the rank may end when it has that
	return "cmd=finalize_ack"
}
