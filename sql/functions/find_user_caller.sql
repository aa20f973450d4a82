-- The user that a token names: no row for one who was deleted. environment_id is the wanted one, null when the tenant has no
-- such environment; first_environment_id is the tenant's oldest one of production, or else its oldest.
CREATE OR REPLACE FUNCTION find_user_caller(tenant text, member text, wanted_environment text)
RETURNS TABLE (roles text[], is_tenant_suspended boolean, environment_id text, first_environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT users.roles, tenants.status = 'suspended',
    (SELECT id FROM environments WHERE environments.tenant_id = tenant AND id = wanted_environment),
    (SELECT id FROM environments WHERE environments.tenant_id = tenant ORDER BY type = 'production' DESC, id LIMIT 1)
  FROM users JOIN tenants ON tenants.id = users.tenant_id
  WHERE users.tenant_id = tenant AND users.id = member AND users.status = 'published'
$$;
REVOKE ALL ON FUNCTION find_user_caller(text,text,text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_user_caller(text,text,text) TO minutebook_programs;

-- As with three parameters, but no row for a token that was issued before the password was changed. Tokens tell whole seconds.
CREATE OR REPLACE FUNCTION find_user_caller(tenant text, member text, wanted_environment text, issued_at timestamptz)
RETURNS TABLE (roles text[], is_tenant_suspended boolean, environment_id text, first_environment_id text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT * FROM find_user_caller(tenant, member, wanted_environment)
  WHERE NOT EXISTS (
    SELECT FROM user_passwords
    WHERE tenant_id = tenant AND user_id = member AND date_trunc('second', changed_at) > issued_at
  )
$$;
REVOKE ALL ON FUNCTION find_user_caller(text,text,text,timestamp with time zone) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_user_caller(text,text,text,timestamp with time zone) TO minutebook_programs;
