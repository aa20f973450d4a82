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
import { accepted } from '../../edge/http-failure.js';
import { occasionOf } from '../../edge/request-context.js';
import { expectedVersions, tagReadVersion, tagVersion } from '../../edge/versions.js';
import type { WriteDependencies } from '../../records/unit.js';
import type { MessageDto } from '../../records/record-dto.js';
import { pageToDto } from '../../records/search-records.js';
import {
  expandedAddonToDto,
  type AddonListDto,
  type ExpandedAddonDto,
} from './addon-expansions.js';
import {
  archiveAddon,
  changeAddon,
  createAddon,
  readAddon,
  searchAddons,
} from './addon-operations.js';
import type {
  ChangeAddonBody,
  CreateAddonBody,
  SearchAddonsBody,
} from '../../declarations/catalog/addon.resource.js';

/** Named first in .config/tsoa.json, or else a key could be taken for a list below an addon. */
@Route('v1/addons')
@Tags('Addons')
export class AddonsController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /** @summary Create an addon */
  @Post()
  @Extension('x-operation', { entity: 'addon', access: 'write', versioned: true })
  @SuccessResponse(201, 'Created')
  public async createAddon(
    @Request() request: HttpRequest,
    @Body() body: CreateAddonBody,
  ): Promise<ExpandedAddonDto> {
    const addon = accepted(await createAddon(this.dependencies, occasionOf(request), body));
    this.setStatus(201);
    tagVersion(this, addon.row.version);
    return expandedAddonToDto(addon);
  }

  /** @summary Search addons */
  @Post('search')
  @Extension('x-operation', { entity: 'addon', access: 'read' })
  public async searchAddons(
    @Request() request: HttpRequest,
    @Body() body: SearchAddonsBody,
  ): Promise<AddonListDto> {
    const page = accepted(await searchAddons(this.dependencies, occasionOf(request), body));
    return pageToDto(page, expandedAddonToDto);
  }

  /** @summary Read an addon by its lookup key */
  @Get('lookup/{lookup_key}')
  @Extension('x-operation', { entity: 'addon', access: 'read', versioned: true })
  public readAddonByLookupKey(
    @Request() request: HttpRequest,
    @Path() lookup_key: string,
  ): Promise<ExpandedAddonDto> {
    return this.read(request, { lookupKey: lookup_key });
  }

  /** @summary Read an addon with its prices and entitlements */
  @Get('{id}')
  @Extension('x-operation', { entity: 'addon', access: 'read', versioned: true })
  public readAddon(@Request() request: HttpRequest, @Path() id: string): Promise<ExpandedAddonDto> {
    return this.read(request, { id });
  }

  /** @summary Change an addon */
  @Put('{id}')
  @Extension('x-operation', { entity: 'addon', access: 'write', versioned: true })
  public async changeAddon(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeAddonBody,
  ): Promise<ExpandedAddonDto> {
    const change = { target: { id, isExpected: expectedVersions(request) }, body };
    const addon = accepted(await changeAddon(this.dependencies, occasionOf(request), change));
    tagVersion(this, addon.row.version);
    return expandedAddonToDto(addon);
  }

  /**
   * Fails while a subscription has the addon.
   * @summary Archive an addon
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'addon', access: 'write' })
  public async archiveAddon(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<MessageDto> {
    accepted(await archiveAddon(this.dependencies, occasionOf(request), id));
    return { message: `addon ${id} is archived` };
  }

  private async read(
    request: HttpRequest,
    reference: Parameters<typeof readAddon>[2],
  ): Promise<ExpandedAddonDto> {
    const addon = accepted(await readAddon(this.dependencies, occasionOf(request), reference));
    tagReadVersion(this, request, addon.row.version);
    return expandedAddonToDto(addon);
  }
}
