import { Body, Controller, Extension, Post, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import type { ReadDependencies } from '../../records/unit.js';
import { pageToDto } from '../../records/search-records.js';
import { auditEntryToDto, type AuditListDto, type SearchAuditBody } from './audit-entry.js';
import { searchAudit } from './search-audit.js';

@Route('v1/audit')
@Tags('Audit trail')
export class AuditController extends Controller {
  constructor(private readonly dependencies: ReadDependencies) {
    super();
  }

  /**
   * Every change of a record, latest first: what it was and what it became, and which request,
   * job or operator made it. An entry is stored together with its change and never changes itself.
   * @summary Search the audit trail
   */
  @Post('search')
  @Extension('x-operation', { entity: 'audit', access: 'read' })
  public async searchAudit(
    @Request() request: HttpRequest,
    @Body() body: SearchAuditBody,
  ): Promise<AuditListDto> {
    const page = accepted(await searchAudit(this.dependencies, occasionOf(request), body));
    return pageToDto(page, auditEntryToDto);
  }
}
