def F(**k):
    d = dict(intent_pend_guard=True, finish_guard=True, gate=True, drain=True, presence=True, retake=True, tokens=False); d.update(k); return d
G = dict(intent_pend_guard=True, finish_guard=True)
two = (('x', 1), ('y', 2)); dup = (('x', 1), ('x', 1))
SCENARIOS = [
 # ---- an earlier draft, with insert tokens only
 ('page.ideal',              'holds', dict()),                              # endless window, no late Postgres update
 ('page.parallel',           'holds', dict(parallel=True, log=two + (('x', 1),), epochs=2)),
 ('page.window_forgets',     'breaks', dict(noise=1, timeouts=0)),                      # crash + W inserts by other partitions
 ('page.zombie_window',      'breaks', dict(W=1)),
 ('page.late_intent',        'breaks', dict(pgt=1, timeouts=0, finish_guard=True, strict=False)),
 ('page.late_finish',        'breaks', dict(pgt=1, timeouts=0, intent_pend_guard=True, strict=False)),
 ('page+guards.pg',          'holds', dict(pgt=2, timeouts=0, **G)),
 ('page+guards.kill_2672',   'breaks', dict(kill=1, hole='token_first', **G)),
 ('page+guards.kill_newer',  'breaks', dict(kill=1, hole='part_first', **G)),
 ('page+guards.power_nofsync','breaks', dict(power=1, fsync=False, **G)),
 ('page+guards.power_log',   'breaks', dict(power=1, logsync=False, **G)),
 # ---- mutations: the checker can fail
 ('mut.commit_first',        'breaks', dict(commit_first=True)),
 ('mut.no_offset_lt_a',      'breaks', dict(offset_lt_a=False)),
 ('mut.no_offset_lt_a_nodigest','breaks', dict(offset_lt_a=False, digest=False)),
 ('mut.no_epoch_guard',      'breaks', dict(epoch_guard=False, strict=False)),
 ('mut.token_no_range',      'breaks', dict(token='norange')),
 ('mut.window_1',            'breaks', dict(W=1)),
 ('mut.token_has_epoch',     'breaks', dict(token='abce')),
 ('mut.no_filter_add',       'breaks', dict(filter_add=False)),
 # ---- the protocol as it stands, whole or with one rule left out
 ('fix.all',                 'holds', F(pgt=1, timeouts=2)),
 ('fix.kill',                'holds', F(kill=1, timeouts=1)),
 ('fix.power_log',           'holds', F(power=1, logsync=False)),
 ('fix.no_gate',             'breaks', F(gate=False)),
 ('fix.no_drain',            'breaks', F(drain=False)),
 ('fix.no_presence',         'breaks', F(presence=False)),
 ('fix.no_retake',           'breaks', F(retake=False)),
 ('fix.power_nofsync',       'breaks', F(power=1, fsync=False)),
 ('fix.kill_newer',          'holds', F(kill=1, timeouts=1, hole='part_first')),
 ('fix.kill_token_abce',     'holds', F(kill=1, timeouts=1, tokens=True, token='abce')),
 ('fix.kill_token_abc',      'breaks', F(kill=1, timeouts=1, tokens=True, token='abc')),
 ('fix.epochs4',             'holds', F(timeouts=2, epochs=4, maxb=2)),
 ('fix.months',              'holds', F(timeouts=1, kill=1, epochs=3, log=(('x', 1), ('y', 2), ('x', 2), ('z', 3)))),
 ('pg.regress',              'breaks', F(regress=1, strict=False)),
 ('pg.regress_sanity',       'holds', F(regress=1, sanity=True, strict=False)),
 # ---- meters and backfill
 ('meter.api_next',          'breaks', F(meters='api_next', log=two, epochs=2)),
 ('meter.api_pend',          'breaks', F(meters='api_pend', log=two, epochs=2)),
 ('meter.guarded',           'holds', F(meters='guarded', log=two + (('z', 1),), epochs=2, pgt=1)),
 ('meter.guarded_nowait',    'breaks', F(meters='guarded', log=two, epochs=2, backfill_wait=False)),
 ('meter.intent_mono',       'holds', F(meters='intent', log=two + (('z', 1),), epochs=2)),
 ('meter.intent_stale',      'breaks', F(meters='intent', mono=False, log=two + (('z', 1),), epochs=2)),
 ('meter.intent_end',        'breaks', F(meters='intent', at='end', log=two, epochs=2)),
 ('meter.intent_noted',      'holds', F(meters='intent', noted=True, log=two + (('z', 1),), epochs=2, pgt=1)),
 ('meter.intent_noted_within','breaks', F(meters='intent', noted=True, noted_between=False, log=two, epochs=2)),
 ('meter.intent_shortcut',   'breaks', F(meters='intent', shortcut=True, log=two, epochs=2)),
]
