#!/usr/bin/env python3
"""Explicit-state checker of the exactly-once protocol (docs/internals/architecture.md 3.1): breadth-first, so traces are shortest.
One log partition, two process slots (each may crash, pause for ever, wake, retake), Postgres row, 3 ClickHouse tables.
  python3 model.py            all scenarios      python3 model.py NAME...  some, with the whole trace
Atomic steps: take, gate, drain, load, build, intent, send, server start/apply of each table-partition block, ack,
finish.  A pause is any schedule in which a slot is not chosen; a crash empties the slot.  Requests that timed out stay in
flight (`slot` -1) and may start, apply block by block, or never do so, at any later time."""
import sys, time
from types import SimpleNamespace as NS

BASE = dict(log=(('x', 1), ('y', 2), ('x', 1)), maxb=3, epochs=3, W=99, timeouts=1, pgt=0, noise=0, kill=0, power=0, regress=0,
    # an earlier draft, with insert tokens -------------------------------------------------------------------------------------------
    epoch_guard=True, offset_lt_a=True, digest=True, commit_first=False, token='abc', tokens=True, parallel=False, strict=True,
    intent_pend_guard=False, finish_guard=False, filter_add=True,
    # engine -----------------------------------------------------------------------------------------------------------
    hole='token_first', fsync=True, logsync=True,
    # proposed --------------------------------------------------------------------------------------------------------
    gate=False, drain=False, presence=False, retake=False, sanity=False,
    # meters: 'off' | 'api_next' | 'api_pend' | 'guarded' | 'intent' ----------------------------------------------------
    # of 'intent': where a batch's catalog begins to apply, whether anybody notes a newer catalog without a batch, and only between two of
    # them, and whether a meter is shown at once while nothing is counted
    meters='off', stale_catalog=True, mono=True, backfill_wait=True, at='begin', noted=False, noted_between=True, shortcut=False)
T = ('events', 'ids', 'usage')

def months(c, t, offs):                       # blocks of an insert: one per table partition; ids: one day
    if not offs: return ()
    if t == 1: return ((0, offs),)
    return tuple((m, tuple(o for o in offs if c.log[o][1] == m)) for m in sorted({c.log[o][1] for o in offs}))

def uniq_of(c, parts, a, b, limit, filt):     # decode + dedup: batch set, filter, exact look-up below `limit`
    seen, out = set(), []
    stored = {c.log[o][0] for p in parts[1] for o in p[4] if o < limit}
    for o in range(a, b):
        i = c.log[o][0]
        if i in seen or (i in filt and i in stored): continue
        seen.add(i); out.append(o)
    return tuple(out)

def firsts(c):
    seen, f = set(), []
    for i, _ in c.log: f.append(i not in seen); seen.add(i)
    return f

def token(c, r):                              # r = request
    return {'abc': (r[1], r[2], r[3]), 'norange': ('t',), 'abce': (r[1], r[2], r[3], r[4])}[c.token]

def check(c, S):
    pg, parts, vec, bf = S[0], S[2], S[8], S[9]
    nxt, pend = pg[1], pg[2]
    for t in range(3):
        cnt = [0] * len(c.log)
        for p in parts[t]:
            for o in p[4]: cnt[o] += 1
        for o, n in enumerate(cnt):
            want = 1 if c.first[o] else 0
            if o < nxt and n < want: return 'LOST %s of offset %d (checkpoint %d is past it)' % (T[t], o, nxt)
            if n > want: return 'DOUBLE %s row for offset %d' % (T[t], o) if want else 'DUPLICATE id counted in %s, offset %d' % (T[t], o)
            if c.strict and n and o >= (pend or nxt): return 'STRAY %s row at offset %d beyond the intent' % (T[t], o)
    if vec is not None:
        live = [sum(p[3] >= 2 and o in p[4] for p in parts[2]) for o in range(len(c.log))]
        for o in range(nxt):
            if c.first[o] and live[o] != (o >= vec): return ('GAP' if o >= vec else 'OVERLAP') + ' meter n, offset %d, vector %d' % (o, vec)
        if bf is not None and bf != tuple(o for o in range(vec) if c.first[o]): return 'GAP backfill read %s, vector %d' % (bf, vec)
    for p in S[1]:
        if p[0] == 'alarm': return 'ALARM digest mismatch: partition stuck'
    return None

IDLE = ('idle', 0, 0, 0, 0, (), (), frozenset())
def put(tup, i, v): return tup[:i] + (v,) + tup[i + 1:]
def add(tup, v): return tuple(sorted(tup + (v,), key=repr))
def rem(tup, v): l = list(tup); l.remove(v); return tuple(l)

def init(c):
    c.first = firsts(c)
    return ((0, 0, None, 1, None, 1), (IDLE, IDLE), ((), (), ()), ((), (), ()), (), (), 0, 1, None, None,
            (c.timeouts, c.pgt, c.noise, c.kill, c.power, c.regress))

def todo_of(c, offs, parts=None, a=0, b=0):   # blocks to send per table; with `parts`: only what is not there
    out = []
    for t in range(3):
        bl = months(c, t, offs)
        if parts is not None:
            bl = tuple(x for x in bl if not any(p[0] == x[0] and ((p[1], p[2]) == (a, b) if t == 2 else any(a <= o < b for o in p[4])) for p in parts[t]))
        if bl: out.append((t, bl))
    return tuple(out)

def pg_apply(c, pg, vec, m):                  # a guarded update; returns (pg, vec, affected)
    kind, e, a, b, cv, dig = m
    ok = (pg[0] == e or not c.epoch_guard)
    if kind == 'intent':
        ok = ok and pg[1] == a and (pg[2] is None or not c.intent_pend_guard)
        if c.meters == 'guarded': ok = ok and cv >= pg[5]
        if c.meters == 'intent' and c.mono: ok = ok and cv >= pg[3]
        if not ok: return pg, vec, False
        if c.meters == 'intent' and vec is None and cv >= 2: vec = a if c.at == 'begin' else b
        return (pg[0], a, b, cv, dig, pg[5]), vec, True
    ok = ok and (not c.finish_guard or (pg[1] == a and pg[2] == b))
    if not ok: return pg, vec, False
    return (pg[0], b, None, pg[3], None, pg[5]), vec, True

def steps(c, S):
    pg, procs, parts, wins, reqs, msgs, gate, cat, vec, bf, bud = S
    def mk(label, **k):
        g = dict(pg=pg, procs=procs, parts=parts, wins=wins, reqs=reqs, msgs=msgs, gate=gate, cat=cat, vec=vec, bf=bf, bud=bud); g.update(k)
        return label, tuple(g[n] for n in ('pg', 'procs', 'parts', 'wins', 'reqs', 'msgs', 'gate', 'cat', 'vec', 'bf', 'bud'))
    spend = lambda i: put(bud, i, bud[i] - 1)
    done = lambda s: tuple(put(r, 6, -1) if r[6] == s else r for r in reqs)   # nobody waits any more
    for s in (0, 1):
        pc, e, a, b, cv, offs, todo, filt = p = procs[s]; N = 'AB'[s]
        P = lambda *v: put(procs, s, tuple(v))
        after = ('gate' if c.gate else 'load')
        # take: also from any other state (crash or rebalance and restart: everything volatile is gone)
        if pg[0] < c.epochs and not (pc == 'ready' and pg[0] == e) and not (s == 1 and pg[0] == 0):
            yield mk('%s take -> epoch %d%s' % (N, pg[0] + 1, '' if pc == 'idle' else ' (after crash in %s)' % pc), pg=put(pg, 0, pg[0] + 1),
                     procs=P(after, pg[0] + 1, pg[1], pg[2] or 0, pg[3], pg[4] if pg[2] is not None else (), (), frozenset()), reqs=tuple(sorted(done(s), key=repr)))
        if pc == 'gate':
            yield mk(N + ' gate>=%d' % e, gate=max(gate, e), procs=P('drain' if c.drain else 'load', *p[1:]))
        elif pc == 'drain':                   # KILL ... SYNC of running inserts of older epochs
            yield mk(N + ' drain', reqs=tuple(r for r in reqs if not (r[7] == 'run' and r[4] < e)), procs=P('load', *p[1:]))
        elif pc == 'load':                    # build the filter from the ids stored now
            f = frozenset(c.log[o][0] for q in parts[1] for o in q[4])
            if c.sanity and any(o >= (b or a) for t in range(3) for q in parts[t] for o in q[4]):
                yield mk(N + ' finds rows above the checkpoint: stops', procs=P('stopped', *p[1:]))
                continue
            yield mk(N + ' load', procs=P('replay' if b else 'ready', e, a, b, cv, offs, (), f))
        elif pc == 'replay':                  # a pending intent: recompute [a,b) with exact look-ups, compare the digest
            u = uniq_of(c, parts, a, b, a if c.offset_lt_a else 99, {i for i, _ in c.log})
            td = todo_of(c, u, parts if c.presence else None, a, b)
            if c.digest and u != offs: yield mk('%s replay [%d,%d) digest differs' % (N, a, b), procs=P('alarm', *p[1:]))
            else: yield mk('%s replay [%d,%d) v%d todo %s' % (N, a, b, cv, [(T[t], [m for m, _ in bl]) for t, bl in td]),
                           procs=P('send' if td else 'finish', e, a, b, cv, u, td, filt))
        elif pc == 'ready':
            for b2 in range(a + 1, min(a + c.maxb, len(c.log)) + 1):
                u = uniq_of(c, parts, a, b2, 99, filt)
                for v in (range(1, cat + 1) if c.stale_catalog else (cat,)):
                    yield mk('%s build [%d,%d) v%d unique %s' % (N, a, b2, v, u), procs=P('intent', e, a, b2, v, u, (), filt))
        elif pc in ('intent', 'finish'):
            m = (pc, e, a, b, cv, offs if pc == 'intent' else None)
            pg2, vec2, ok = pg_apply(c, pg, vec, m)
            nxt = (('finish' if c.commit_first or not offs else 'send') if pc == 'intent' else 'ready')
            if pc == 'intent': np = P(nxt, e, a, b, cv, offs, todo_of(c, offs), filt)
            elif c.commit_first and todo: np = P('send', *p[1:])
            else: np = P('ready', e, b, 0, cv, (), (), filt | {c.log[o][0] for o in offs} if c.filter_add else filt)
            if not ok: np = put(procs, s, IDLE) if pg[0] != e and c.epoch_guard else P('reread', e, a, b, cv, offs, (pc,), filt)
            yield mk('%s %s [%d,%d)%s' % (N, pc, a, b, '' if ok else ' REFUSED'), pg=pg2, vec=vec2, procs=np)
            if bud[1]: yield mk('%s %s [%d,%d) sent, no reply' % (N, pc, a, b), msgs=add(msgs, m), procs=P('reread', e, a, b, cv, offs, (pc,) + todo, filt), bud=spend(1))
        elif pc == 'reread':                  # outcome unknown: look at the row
            if pg[0] != e and c.epoch_guard: np = put(procs, s, IDLE)
            elif todo[0] == 'intent':
                if pg[1] == a and pg[2] == b and pg[4] == offs and pg[3] == cv: np = P('send' if offs else 'finish', e, a, b, cv, offs, todo_of(c, offs), filt)
                elif pg[1] == a and pg[2] is None: np = P('ready', e, a, 0, cv, (), (), filt)
                elif pg[1] == a: np = P('load', e, a, pg[2], pg[3], pg[4], (), filt)
                else: np = put(procs, s, IDLE)
            elif pg[1] == b and pg[2] is None: np = P('ready', e, b, 0, cv, (), (), filt | {c.log[o][0] for o in offs})
            else: np = P('finish', e, a, b, cv, offs, (), filt)
            yield mk(N + ' re-reads the row', procs=np)
        elif pc == 'send' and not c.parallel:
            (t, bl) = todo[0]
            yield mk('%s sends %s [%d,%d) months %s' % (N, T[t], a, b, [m for m, _ in bl]), reqs=add(reqs, (t, a, b, cv, e, bl, s, 'net')), procs=P('wait', *p[1:]))
        elif pc == 'send':
            rs = reqs
            for t, bl in todo: rs = add(rs, (t, a, b, cv, e, bl, s, 'net'))
            yield mk('%s sends %s [%d,%d) at once' % (N, [T[t] for t, _ in todo], a, b), reqs=rs, procs=P('wait', *p[1:]))
        elif pc == 'wait' and bud[0]:         # unknown outcome; the request stays in flight
            np = put(procs, s, IDLE) if c.retake else P('send', *p[1:])
            yield mk(N + ' insert timed out' + (' -> gives the epoch up' if c.retake else ' -> re-sends'), reqs=tuple(sorted(done(s), key=repr)), procs=np, bud=spend(0))
    for r in sorted(set(reqs), key=repr):     # the server
        t, a, b, cv, e, bl, slot, st = r
        nm = '%s [%d,%d) of epoch %d%s' % (T[t], a, b, e, '' if slot >= 0 else ' (LATE)')
        if st == 'net' and c.gate:
            if e >= gate: yield mk('server starts ' + nm, reqs=add(rem(reqs, r), put(r, 7, 'run')))
            else: yield mk('server fences ' + nm, reqs=rem(reqs, r), procs=procs if slot < 0 else put(procs, slot, IDLE))
            continue
        (m, offs), rest = bl[0], bl[1:]
        key = (token(c, r), m); hit = c.tokens and key in wins[t]
        pt = parts if hit else put(parts, t, add(parts[t], (m, a, b, cv, offs)))
        w = wins if hit or not c.tokens else put(wins, t, (wins[t] + (key,))[-c.W:])
        rq, pr = rem(reqs, r), procs
        if rest: rq = add(rq, put(put(r, 5, rest), 7, 'run'))
        elif slot >= 0:
            q = procs[slot]; td = tuple(x for x in q[6] if x[0] != t)
            pr = put(procs, slot, (('finish' if not c.commit_first else 'ready') if not td else 'wait' if c.parallel else 'send',) + q[1:6] + (td,) + q[7:])
            if not td and c.commit_first: pr = put(procs, slot, ('ready', q[1], q[3], 0, q[4], (), (), q[7] | {c.log[o][0] for o in q[5]}))
        yield mk('server %s %s month %d' % ('DROPS (token known)' if hit else 'applies', nm, m), parts=pt, wins=w, reqs=rq, procs=pr)
        if bud[3] and not hit:                # kill -9 between the token log and the part's rename
            lost = tuple(sorted((put(x, 6, -1) for x in reqs if x[7] == 'net' and x != r), key=repr))
            pr = tuple(IDLE if q[0] == 'wait' and c.retake else ('send',) + q[1:] if q[0] == 'wait' else q for q in procs)
            yield mk('KILL -9 of ClickHouse inside %s month %d (%s)' % (nm, m, c.hole), parts=parts if c.hole == 'token_first' else pt,
                     wins=w if c.hole == 'token_first' else wins, reqs=lost, procs=pr, bud=spend(3))
    for m in sorted(set(msgs), key=repr):
        pg2, vec2, ok = pg_apply(c, pg, vec, m)
        yield mk('LATE %s [%d,%d) of epoch %d reaches Postgres%s' % (m[0], m[2], m[3], m[1], '' if ok else ', refused'), pg=pg2, vec=vec2, msgs=rem(msgs, m))
    if bud[2] and any(wins): yield mk('W inserts of other log partitions (window forgets)', wins=((), (), ()), bud=spend(2))
    if bud[4]:                                # power loss: un-fsynced parts and token log tails go
        for t in range(3):
            if not c.fsync:
                for p in sorted(set(parts[t]), key=repr): yield mk('POWER LOSS, un-fsynced part of %s [%d,%d) gone' % (T[t], p[1], p[2]), parts=put(parts, t, rem(parts[t], p)), bud=spend(4))
            if not c.logsync and wins[t]: yield mk('POWER LOSS, token log tail of %s gone' % T[t], wins=put(wins, t, wins[t][:-1]), bud=spend(4))
    if bud[5] and pg[2] is not None: yield mk('POSTGRES failover or restore loses the intent [%d,%d)' % (pg[1], pg[2]), pg=put(put(pg, 2, None), 4, None), bud=spend(5))
    if c.meters != 'off':
        if cat == 1:
            v = {'api_next': pg[1], 'api_pend': pg[2] or pg[1], 'guarded': pg[2] or pg[1], 'intent': None}[c.meters]
            at_once = () if c.shortcut and pg[1] == 0 and pg[2] is None else bf
            yield mk('API creates meter n: version 2, vector %s' % v, cat=2, vec=v, bf=at_once, pg=put(pg, 5, 2) if c.meters == 'guarded' else pg)
        if c.noted and pg[3] < cat and (pg[2] is None or not c.noted_between):   # whoever it is, of whatever epoch
            yield mk('somebody notes catalog %d at %d' % (cat, pg[1]), pg=put(pg, 3, cat), vec=pg[1] if vec is None else vec)
        if vec is not None and bf is None and (not c.backfill_wait or pg[1] >= vec):
            yield mk('backfill reads events below %d' % vec, bf=tuple(sorted(o for q in parts[0] for o in q[4] if o < vec)))

def explore(c, limit=6_000_000, secs=900):
    s0 = init(c); seen = {s0: None}; todo = [s0]; t0 = time.time(); depth = 0; quiet = 0
    while todo:
        nxt = []
        for S in todo:
            for label, S2 in steps(c, S):
                if S2 in seen: continue
                seen[S2] = (S, label)
                bad = check(c, S2)
                if bad: return bad, trace(seen, S2), len(seen), time.time() - t0, depth
                if S2[0][1] == len(c.log) and S2[0][2] is None: quiet += 1
                nxt.append(S2)
            if len(seen) > limit or time.time() - t0 > secs: return 'LIMIT', [], len(seen), time.time() - t0, depth
        todo = nxt; depth += 1
    assert quiet, 'no run ends: the scenario is vacuous'
    return None, [], len(seen), time.time() - t0, depth

def trace(seen, S):
    out = []
    while seen[S]: S, l = seen[S]; out.append(l)
    return out[::-1]

from scenarios import SCENARIOS
if __name__ == '__main__':
    names, wrong = sys.argv[1:], 0
    for name, want, over in SCENARIOS:
        if names and name not in names: continue
        d = dict(BASE); d.update(over)
        bad, tr, n, dt, depth = explore(NS(**d))
        ok = (bad is None) if want == 'holds' else bool(bad) and bad != 'LIMIT'
        wrong += not ok
        print('%-34s %-6s %-58s states %8d depth %3d %6.1f s %s' % (name, want, bad or 'HOLDS', n, depth, dt, '' if ok else '  <-- UNEXPECTED'), flush=True)
        if bad and (names or True):
            for i, l in enumerate(tr): print('      %2d %s' % (i + 1, l))
    sys.exit(1 if wrong else 0)
