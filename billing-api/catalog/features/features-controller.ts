import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { archiveFeature, changeFeature } from './change-feature.js';
import { cloneFeature } from './clone-feature.js';
import { createFeature, readFeature, searchFeatures } from './feature-operations.js';
import type {
  ChangeFeatureBody,
  CloneFeatureBody,
  CreateFeatureBody,
  ExpandedFeatureDto,
  FeatureListDto,
  SearchFeaturesBody,
} from '../../declarations/catalog/feature.resource.js';
import { expandedFeatureToDto } from './feature-expansions.js';
import { pageToDto } from '../../records/search-records.js';
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { expectedVersions, tagReadVersion, tagVersion } from '../../edge/versions.js';
import type { WriteDependencies } from '../../records/unit.js';
import type { MessageDto } from '../../records/record-dto.js';

@Route('v1/features')
@Tags('Features')
export class FeaturesController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /**
   * A metered feature names a meter, or brings a new one that is created with it.
   * @summary Create a feature
   */
  @Post()
  @Extension('x-operation', {
    entity: 'feature',
    access: 'write',
    versioned: true,
    notFound: true,
  })
  @SuccessResponse(201, 'Created')
  public async createFeature(
    @Request() request: HttpRequest,
    @Body() body: CreateFeatureBody,
  ): Promise<ExpandedFeatureDto> {
    const feature = accepted(await createFeature(this.dependencies, occasionOf(request), body));
    this.setStatus(201);
    tagVersion(this, feature.row.version);
    return expandedFeatureToDto(feature);
  }

  /** @summary Search features */
  @Post('search')
  @Extension('x-operation', { entity: 'feature', access: 'read' })
  public async searchFeatures(
    @Request() request: HttpRequest,
    @Body() body: SearchFeaturesBody,
  ): Promise<FeatureListDto> {
    const page = accepted(await searchFeatures(this.dependencies, occasionOf(request), body));
    return pageToDto(page, expandedFeatureToDto);
  }

  /** @summary Read a feature with its meter */
  @Get('{id}')
  @Extension('x-operation', { entity: 'feature', access: 'read', versioned: true })
  public async readFeature(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<ExpandedFeatureDto> {
    const feature = accepted(await readFeature(this.dependencies, occasionOf(request), id));
    tagReadVersion(this, request, feature.row.version);
    return expandedFeatureToDto(feature);
  }

  /**
   * Other filters make a new version of the feature's meter and start its backfill.
   * @summary Change a feature
   */
  @Put('{id}')
  @Extension('x-operation', {
    entity: 'feature',
    access: 'write',
    versioned: true,
    notFound: true,
  })
  public async changeFeature(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeFeatureBody,
  ): Promise<ExpandedFeatureDto> {
    const change = { target: { id, isExpected: expectedVersions(request) }, body };
    const feature = accepted(await changeFeature(this.dependencies, occasionOf(request), change));
    tagVersion(this, feature.row.version);
    return expandedFeatureToDto(feature);
  }

  /**
   * Fails while an entitlement names the feature. Its meter is archived with it, unless another
   * feature or a price that has not ended uses the meter.
   * @summary Archive a feature
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'feature', access: 'write' })
  public async archiveFeature(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<MessageDto> {
    accepted(await archiveFeature(this.dependencies, occasionOf(request), id));
    return { message: `feature ${id} is archived` };
  }

  /**
   * The copy of a metered feature has a meter of its own, which counts the same events.
   * @summary Clone a feature
   */
  @Post('{id}/clone')
  @Extension('x-operation', { entity: 'feature', access: 'write', versioned: true })
  @SuccessResponse(201, 'Created')
  public async cloneFeature(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: CloneFeatureBody,
  ): Promise<ExpandedFeatureDto> {
    const copy = await cloneFeature(this.dependencies, occasionOf(request), { id, body });
    const feature = accepted(copy);
    this.setStatus(201);
    tagVersion(this, feature.row.version);
    return expandedFeatureToDto(feature);
  }
}
