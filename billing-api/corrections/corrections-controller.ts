import {
  Body,
  Controller,
  Extension,
  Get,
  Path,
  Post,
  Queries,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import {
  correctionToDto,
  type ApplyCorrectionBody,
  type CorrectionDto,
  type CorrectionListDto,
  type CreateCorrectionBody,
  type RevertCorrectionBody,
} from '../declarations/corrections/correction.resource.js';
import { accepted } from '../edge/http-failure.js';
import { occasionOf } from '../edge/request-context.js';
import { listRequestFrom, type ListQuery } from '../records/list-request.js';
import { pageToDto } from '../records/search-records.js';
import {
  applyCorrection,
  createCorrection,
  listCorrections,
  readCorrection,
  revertCorrection,
  type CorrectionDependencies,
} from './correction-operations.js';

/** Which corrections are listed; newest first. */
export interface CorrectionsQuery extends ListQuery {
  type?: 'amend' | 'withdraw' | 'backfill';
  correction_status?: 'preparing' | 'ready' | 'applied' | 'reverting' | 'reverted' | 'failed';
}

@Route('v1/corrections')
@Tags('Events')
export class CorrectionsController extends Controller {
  constructor(private readonly dependencies: CorrectionDependencies) {
    super();
  }

  /**
   * Events never change: a correction is a record beside them that says how they count. It is
   * prepared after the answer; poll it until it is `ready`, and see in `summary` what it touches.
   * Nothing counts otherwise until it is applied.
   * @summary Create a correction
   */
  @Post()
  @SuccessResponse(201, 'Created')
  @Extension('x-operation', {
    entity: 'correction',
    access: 'write',
    rate: 'heavy',
    notFound: true,
  })
  public async createCorrection(
    @Request() request: HttpRequest,
    @Body() body: CreateCorrectionBody,
  ): Promise<CorrectionDto> {
    const row = accepted(await createCorrection(this.dependencies, occasionOf(request), body));
    this.setStatus(201);
    return correctionToDto(row);
  }

  /** @summary List corrections */
  @Get()
  @Extension('x-operation', { entity: 'correction', access: 'read' })
  public async listCorrections(
    @Request() request: HttpRequest,
    @Queries() query: CorrectionsQuery,
  ): Promise<CorrectionListDto> {
    const page = await listCorrections(this.dependencies, occasionOf(request), {
      request: listRequestFrom(query),
      type: query.type,
      status: query.correction_status,
    });
    return pageToDto(accepted(page), correctionToDto);
  }

  /** @summary Read a correction */
  @Get('{id}')
  @Extension('x-operation', { entity: 'correction', access: 'read' })
  public async readCorrection(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<CorrectionDto> {
    return correctionToDto(
      accepted(await readCorrection(this.dependencies, occasionOf(request), id)),
    );
  }

  /**
   * Applies exactly what the preview of this token shows. From the answer on, usage, previews and
   * drafts count it.
   * @summary Apply a correction
   */
  @Post('{id}/apply')
  @SuccessResponse(200, 'OK')
  @Extension('x-operation', { entity: 'correction', access: 'write' })
  public async applyCorrection(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ApplyCorrectionBody,
  ): Promise<CorrectionDto> {
    const applied = await applyCorrection(this.dependencies, occasionOf(request), { id, body });
    return correctionToDto(accepted(applied));
  }

  /**
   * The events count again as they did before. A backfill is `reverting` until its events are
   * counted, and then withdrawn.
   * @summary Revert a correction
   */
  @Post('{id}/revert')
  @SuccessResponse(200, 'OK')
  @Extension('x-operation', { entity: 'correction', access: 'write' })
  public async revertCorrection(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: RevertCorrectionBody,
  ): Promise<CorrectionDto> {
    const reverted = await revertCorrection(this.dependencies, occasionOf(request), { id, body });
    return correctionToDto(accepted(reverted));
  }
}
