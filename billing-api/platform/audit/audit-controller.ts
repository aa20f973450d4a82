import { Body, Extension, Post, Route, Tags } from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
import type { ReadDependencies } from '../../records/unit.js';
import { pageToDto } from '../../records/search-records.js';
import { auditEntryToDto, type AuditListDto, type SearchAuditBody } from './audit-entry.js';
import { searchAudit } from './search-audit.js';

@Route('v1/audit')
@Tags('Audit trail')
export class AuditController extends ApiController<ReadDependencies> {
  /**
   * Every change of a record, latest first: what it was and what it became, and which request,
   * job or operator made it. An entry is stored together with its change and never changes itself.
   * @summary Search the audit trail
   */
  @Post('search')
  @Extension('x-operation', { entity: 'audit', access: 'read' })
  public async searchAudit(@Body() body: SearchAuditBody): Promise<AuditListDto> {
    return pageToDto(await this.run(searchAudit, body), auditEntryToDto);
  }
}
