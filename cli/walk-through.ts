/**
 * Shell lines that lead from an empty product to an invoice preview, to what became of an event,
 * and to a finalized invoice that is verified; each can be pasted by itself. `sed` keeps ids in
 * shell variables, so that only curl and a POSIX shell are needed, and this project for those that
 * call `minutebook`, which show tables.
 */
export function walkThrough(url: string, apiKey: string): string {
  const post = (path: string, body: string): string =>
    `curl -s ${url}/v1${path} -H "x-api-key: $KEY" -H 'content-type: application/json' -d ${body}`;
  const keepId = `| sed -E 's/.*"id":"(NAME_[0-9A-Z]*)".*/\\1/'`;
  const idOf = (prefix: string): string => keepId.replace('NAME', prefix);
  return `KEY=${apiKey}
METER=$(${post('/meters', `'{"name":"API calls","event_name":"api_call","aggregation":{"type":"COUNT"}}'`)} ${idOf('meter')}); echo $METER
PLAN=$(${post('/plans', `'{"name":"Pay as you go"}'`)} ${idOf('plan')}); echo $PLAN
${post('/prices', `"{\\"entity_id\\":\\"$PLAN\\",\\"meter_id\\":\\"$METER\\",\\"currency\\":\\"usd\\",\\"amount\\":\\"0.25\\"}"`)}; echo
${post('/prices', `"{\\"entity_id\\":\\"$PLAN\\",\\"currency\\":\\"usd\\",\\"amount\\":\\"20\\",\\"invoice_cadence\\":\\"ADVANCE\\",\\"display_name\\":\\"Base fee\\"}"`)}; echo
${post('/customers', `'{"external_id":"acme","name":"Acme Inc."}'`)}; echo
SUBS=$(${post('/subscriptions', `"{\\"external_customer_id\\":\\"acme\\",\\"plan_id\\":\\"$PLAN\\",\\"currency\\":\\"usd\\",\\"billing_period\\":\\"MONTHLY\\"}"`)} ${idOf('subs')}); echo $SUBS
${post('/events', `'{"event_name":"api_call","event_id":"call-1","external_customer_id":"acme","source":"docs"}'`)}; echo
${post('/events', `'{"event_name":"api_call","event_id":"call-1","external_customer_id":"acme","source":"docs"}'`)}; echo
${post('/events/bulk', `'{"events":[{"event_name":"api_call","event_id":"call-2","external_customer_id":"acme"},{"event_name":"api_call","event_id":"call-3","external_customer_id":"acme"}]}'`)}; echo
export MINUTEBOOK_URL=${url} MINUTEBOOK_API_KEY=$KEY
sleep 2; npx minutebook preview $SUBS
npx minutebook event call-1
INVOICE=$(curl -s ${url}/v1/subscriptions/$SUBS -H "x-api-key: $KEY" ${idOf('inv')}); npx minutebook invoice show $INVOICE
npx minutebook verify $INVOICE
curl -s ${url}/v1/invoices/$INVOICE/pdf -H "x-api-key: $KEY" -o /tmp/invoice.pdf; ls -l /tmp/invoice.pdf
`;
}
