// The same attacks, with the times of other tenants judged strictly.
import './attacks.e2e.test.js';
