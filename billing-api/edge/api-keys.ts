export type { ApiCaller, ApiKeyDirectory } from '../../sql/api-keys.js';
