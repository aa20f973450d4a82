// The same attacks, with the times of other tenants judged strictly.
import './noisy-tenant.e2e.test.js';
