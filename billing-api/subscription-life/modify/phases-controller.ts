import { Body, Controller, Extension, Path, Put, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { phaseToDto, type PhaseDto } from '../../declarations/subscriptions/phase.resource.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { expectedVersions } from '../../edge/versions.js';
import type { WriteDependencies } from '../../records/unit.js';
import { changePhase, type ChangePhaseBody } from './change-phase.js';

@Route('v1/subscriptions')
@Tags('Subscriptions')
export class PhasesController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /**
   * What is noted of a phase; its dates, its line items and its coupons stay as the subscription
   * was created with them.
   * @summary Change the metadata of a phase
   */
  @Put('phases/{id}')
  @Extension('x-operation', { entity: 'subscription', access: 'write' })
  public async changePhase(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangePhaseBody,
  ): Promise<PhaseDto> {
    const change = { target: { id, isExpected: expectedVersions(request) }, body };
    return phaseToDto(accepted(await changePhase(this.dependencies, occasionOf(request), change)));
  }
}
