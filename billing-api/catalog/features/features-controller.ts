import {
  Body,
  Controller,
  Extension,
  Get,
  Path,
  Post,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { createFeature } from './create-feature.js';
import { readFeature, searchFeatures } from './read-features.js';
import {
  featureToDto,
  type CreateFeatureBody,
  type FeatureDto,
  type FeatureListDto,
  type SearchFeaturesBody,
} from './feature-dto.js';
import { accepted } from '../../edge/failure.js';
import { callerOf } from '../../edge/request-context.js';
import type { ControllerDependencies } from '../../ioc.js';

@Route('v1/features')
@Tags('Features')
export class FeaturesController extends Controller {
  constructor(private readonly dependencies: ControllerDependencies) {
    super();
  }

  /**
   * A metered feature names a meter, or brings a new one that is created with it.
   * @summary Create a feature
   */
  @Post()
  @Extension('x-operation', { entity: 'feature', access: 'write', notFound: true })
  @SuccessResponse(201, 'Created')
  public async createFeature(
    @Request() request: HttpRequest,
    @Body() body: CreateFeatureBody,
  ): Promise<FeatureDto> {
    const created = accepted(await createFeature(this.dependencies, callerOf(request), body));
    this.setStatus(201);
    const { feature, meter } = created;
    const meters = new Map(meter === null ? [] : [[meter.id, meter]]);
    return featureToDto(feature, { meters, withGroup: true });
  }

  /** @summary Search features */
  @Post('search')
  @Extension('x-operation', { entity: 'feature', access: 'read' })
  public async searchFeatures(
    @Request() request: HttpRequest,
    @Body() body: SearchFeaturesBody,
  ): Promise<FeatureListDto> {
    const page = accepted(await searchFeatures(this.dependencies, callerOf(request), body));
    const { expand } = page.command;
    const expansions = {
      ...(expand.has('meter') ? { meters: page.meters } : {}),
      withGroup: expand.has('group'),
    };
    return {
      items: page.rows.map((row) => featureToDto(row, expansions)),
      pagination: { limit: page.command.limit, offset: page.command.offset, total: page.total },
    };
  }

  /** @summary Read a feature with its meter */
  @Get('{id}')
  @Extension('x-operation', { entity: 'feature', access: 'read' })
  public async readFeature(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<FeatureDto> {
    const found = accepted(await readFeature(this.dependencies, callerOf(request), id));
    return featureToDto(found.feature, { meters: found.meters, withGroup: true });
  }
}
