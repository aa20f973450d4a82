import type { Sample } from './sample-requests.js';

/** Requests about tenants, environments, users, keys and settings. */
export const PLATFORM: Readonly<Record<string, Sample>> = {
  ReadMe: () => ({}),
  ListMyOperations: () => ({}),
  ChangeMe: () => ({ body: { name: 'Administrator', metadata: { team: 'billing' } } }),
  CreateUser: (_ids, suffix) => ({
    body: { type: 'user', email: `kim${suffix}@example.com`, name: 'Kim', roles: ['all_reader'] },
  }),
  SearchUsers: (ids) => ({ body: { user_ids: [ids.user, ids.service_account] } }),
  ReadUser: (ids) => ({ path: { id: ids.service_account } }),
  ChangeUser: (ids) => ({ path: { id: ids.service_account }, body: { name: 'Gateway, Europe' } }),
  ChangeUserRoles: (ids) => ({
    path: { id: ids.service_account },
    body: { roles: ['event_ingestor', 'event_reader'] },
  }),
  DeleteUser: (ids) => ({ path: { id: ids.spare_user } }),
  ListRoles: () => ({}),
  ReadRole: () => ({ path: { id: 'all_reader' } }),
  ReadTenant: (ids) => ({ path: { id: ids.tenant } }),
  ChangeTenant: () => ({
    body: { name: 'Example Ltd', billing_details: { email: 'accounts@example.com' } },
  }),
  ListEnvironments: () => ({}),
  CreateEnvironment: (_ids, suffix) => ({
    body: { name: `Staging${suffix}`, type: 'development' },
  }),
  ReadEnvironment: (ids) => ({ path: { id: ids.environment } }),
  ChangeEnvironment: (ids) => ({ path: { id: ids.environment }, body: { name: 'Production' } }),
  ListKeys: () => ({}),
  CreateKey: (ids) => ({
    body: {
      name: 'Gateway',
      type: 'private_key',
      expires_at: '2099-01-01T00:00:00Z',
      service_account_id: ids.service_account,
    },
  }),
  RevokeKey: (ids) => ({ path: { id: ids.spare_key } }),
  ReadSetting: () => ({ path: { key: 'invoice_config' } }),
  ChangeSetting: () => ({
    path: { key: 'subscription_auto_cancel' },
    body: { value: { enabled: true } },
  }),
  ResetSetting: () => ({ path: { key: 'wallet_bonus' } }),
  SearchAudit: (ids) => ({ body: { entity_id: ids.price_unit, action: 'created' } }),
  ListJobs: () => ({ query: { status: 'parked' } }),
  RetryJob: (ids) => ({ path: { id: ids.parked_job } }),
  ListSystemEvents: () => ({ query: { after: '1', limit: '2' } }),
  ReadSystemEvent: (ids) => ({ path: { id: ids.system_event } }),
};
