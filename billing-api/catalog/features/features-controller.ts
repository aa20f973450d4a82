import {
  Body,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import { ApiController } from '../../edge/api-controller.js';
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
import type { WriteDependencies } from '../../records/unit.js';
import type { MessageDto } from '../../records/record-dto.js';

@Route('v1/features')
@Tags('Features')
export class FeaturesController extends ApiController<WriteDependencies> {
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
  public async createFeature(@Body() body: CreateFeatureBody): Promise<ExpandedFeatureDto> {
    return expandedFeatureToDto(this.tagged(await this.run(createFeature, body)));
  }

  /** @summary Search features */
  @Post('search')
  @Extension('x-operation', { entity: 'feature', access: 'read' })
  public async searchFeatures(@Body() body: SearchFeaturesBody): Promise<FeatureListDto> {
    return pageToDto(await this.run(searchFeatures, body), expandedFeatureToDto);
  }

  /** @summary Read a feature with its meter */
  @Get('{id}')
  @Extension('x-operation', { entity: 'feature', access: 'read', versioned: true })
  public async readFeature(@Path() id: string): Promise<ExpandedFeatureDto> {
    return expandedFeatureToDto(this.matched(await this.run(readFeature, id)));
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
    @Path() id: string,
    @Body() body: ChangeFeatureBody,
  ): Promise<ExpandedFeatureDto> {
    return expandedFeatureToDto(
      this.tagged(await this.run(changeFeature, this.changeOf(id, body))),
    );
  }

  /**
   * Fails while an entitlement names the feature. Its meter is archived with it, unless another
   * feature or a price that has not ended uses the meter.
   * @summary Archive a feature
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'feature', access: 'write' })
  public async archiveFeature(@Path() id: string): Promise<MessageDto> {
    await this.run(archiveFeature, id);
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
    @Path() id: string,
    @Body() body: CloneFeatureBody,
  ): Promise<ExpandedFeatureDto> {
    return expandedFeatureToDto(this.tagged(await this.run(cloneFeature, { id, body })));
  }
}
