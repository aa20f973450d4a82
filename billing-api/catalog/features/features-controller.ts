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
import { createFeature, readFeature, searchFeatures } from './feature-operations.js';
import {
  expandedFeatureToDto,
  type CreateFeatureBody,
  type ExpandedFeatureDto,
  type FeatureListDto,
  type SearchFeaturesBody,
} from './feature.resource.js';
import { pageToDto } from '../../records/search-records.js';
import { accepted } from '../../edge/http-failure.js';
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
  ): Promise<ExpandedFeatureDto> {
    const feature = accepted(await createFeature(this.dependencies, callerOf(request), body));
    this.setStatus(201);
    return expandedFeatureToDto(feature);
  }

  /** @summary Search features */
  @Post('search')
  @Extension('x-operation', { entity: 'feature', access: 'read' })
  public async searchFeatures(
    @Request() request: HttpRequest,
    @Body() body: SearchFeaturesBody,
  ): Promise<FeatureListDto> {
    const page = accepted(await searchFeatures(this.dependencies, callerOf(request), body));
    return pageToDto(page, expandedFeatureToDto);
  }

  /** @summary Read a feature with its meter */
  @Get('{id}')
  @Extension('x-operation', { entity: 'feature', access: 'read' })
  public async readFeature(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<ExpandedFeatureDto> {
    return expandedFeatureToDto(
      accepted(await readFeature(this.dependencies, callerOf(request), id)),
    );
  }
}
