-- The endpoints for which something is to be sent, for the job that looks for them (docs/internals/architecture.md, D-014).
CREATE OR REPLACE FUNCTION list_webhooks_due(at timestamptz, count_max integer) RETURNS TABLE (tenant_id text, environment_id text, endpoint_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT endpoint.tenant_id, endpoint.environment_id, endpoint.id FROM webhook_endpoints AS endpoint
  WHERE endpoint.enabled AND endpoint.status = 'published'
    AND (EXISTS (
        SELECT FROM system_event_counters AS counter
        WHERE counter.tenant_id = endpoint.tenant_id AND counter.environment_id = endpoint.environment_id
          AND counter.last_sequence > endpoint.taken_until)
      OR EXISTS (
        SELECT FROM webhook_deliveries AS delivery
        WHERE delivery.tenant_id = endpoint.tenant_id AND delivery.environment_id = endpoint.environment_id
          AND delivery.endpoint_id = endpoint.id AND delivery.delivery_status = 'pending' AND delivery.next_attempt_at <= at))
  LIMIT count_max
$$;
REVOKE ALL ON FUNCTION list_webhooks_due FROM PUBLIC;
GRANT EXECUTE ON FUNCTION list_webhooks_due TO minutebook_programs;
