import {
  Body,
  Controller,
  Delete,
  Extension,
  Get,
  Path,
  Post,
  Put,
  Queries,
  Request,
  Route,
  SuccessResponse,
  Tags,
} from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../edge/http-failure.js';
import { occasionOf } from '../edge/request-context.js';
import { expectedVersions, tagReadVersion, tagVersion } from '../edge/versions.js';
import type { WriteDependencies } from '../records/unit.js';
import type { MessageDto } from '../records/record-dto.js';
import { pageToDto } from '../records/search-records.js';
import {
  listCouponAssociations,
  readCouponAssociation,
  type CouponAssociationsQuery,
} from './coupon-association-operations.js';
import type {
  CouponAssociationDto,
  CouponAssociationListDto,
} from '../declarations/coupons/coupon-association.resource.js';
import {
  archiveCoupon,
  changeCoupon,
  createCoupon,
  readCoupon,
  readCouponByCode,
  searchCoupons,
} from './coupon-operations.js';
import {
  couponToDto,
  type ChangeCouponBody,
  type CouponDto,
  type CouponListDto,
  type CreateCouponBody,
  type SearchCouponsBody,
} from '../declarations/coupons/coupon.resource.js';

@Route('v1/coupons')
@Tags('Coupons')
export class CouponsController extends Controller {
  constructor(private readonly dependencies: WriteDependencies) {
    super();
  }

  /** @summary Create a coupon */
  @Post()
  @Extension('x-operation', { entity: 'coupon', access: 'write', versioned: true })
  @SuccessResponse(201, 'Created')
  public async createCoupon(
    @Request() request: HttpRequest,
    @Body() body: CreateCouponBody,
  ): Promise<CouponDto> {
    const coupon = accepted(await createCoupon(this.dependencies, occasionOf(request), body));
    this.setStatus(201);
    tagVersion(this, coupon.version);
    return couponToDto(coupon);
  }

  /** @summary Search coupons */
  @Post('search')
  @Extension('x-operation', { entity: 'coupon', access: 'read' })
  public async searchCoupons(
    @Request() request: HttpRequest,
    @Body() body: SearchCouponsBody,
  ): Promise<CouponListDto> {
    const page = accepted(await searchCoupons(this.dependencies, occasionOf(request), body));
    return pageToDto(page, couponToDto);
  }

  /** @summary Read a coupon by its code */
  @Get('code/{code}')
  @Extension('x-operation', { entity: 'coupon', access: 'read', versioned: true })
  public async readCouponByCode(
    @Request() request: HttpRequest,
    @Path() code: string,
  ): Promise<CouponDto> {
    const coupon = accepted(await readCouponByCode(this.dependencies, occasionOf(request), code));
    tagReadVersion(this, request, coupon.version);
    return couponToDto(coupon);
  }

  /**
   * What coupons are attached to, newest first unless sorted otherwise.
   * @summary List coupon associations
   */
  @Get('associations')
  @Extension('x-operation', { entity: 'coupon', access: 'read' })
  public async listCouponAssociations(
    @Request() request: HttpRequest,
    @Queries() query: CouponAssociationsQuery,
  ): Promise<CouponAssociationListDto> {
    const found = listCouponAssociations(this.dependencies, occasionOf(request), query);
    return pageToDto(accepted(await found), (association) => association);
  }

  /** @summary Read a coupon association */
  @Get('associations/{id}')
  @Extension('x-operation', { entity: 'coupon', access: 'read' })
  public async readCouponAssociation(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<CouponAssociationDto> {
    return accepted(await readCouponAssociation(this.dependencies, occasionOf(request), id));
  }

  /** @summary Read a coupon */
  @Get('{id}')
  @Extension('x-operation', { entity: 'coupon', access: 'read', versioned: true })
  public async readCoupon(@Request() request: HttpRequest, @Path() id: string): Promise<CouponDto> {
    const coupon = accepted(await readCoupon(this.dependencies, occasionOf(request), id));
    tagReadVersion(this, request, coupon.version);
    return couponToDto(coupon);
  }

  /** @summary Change a coupon */
  @Put('{id}')
  @Extension('x-operation', { entity: 'coupon', access: 'write', versioned: true })
  public async changeCoupon(
    @Request() request: HttpRequest,
    @Path() id: string,
    @Body() body: ChangeCouponBody,
  ): Promise<CouponDto> {
    const change = { target: { id, isExpected: expectedVersions(request) }, body };
    const coupon = accepted(await changeCoupon(this.dependencies, occasionOf(request), change));
    tagVersion(this, coupon.version);
    return couponToDto(coupon);
  }

  /**
   * Nobody can attach it any more. Whoever holds it keeps the discount.
   * @summary Archive a coupon
   */
  @Delete('{id}')
  @Extension('x-operation', { entity: 'coupon', access: 'write' })
  public async archiveCoupon(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<MessageDto> {
    accepted(await archiveCoupon(this.dependencies, occasionOf(request), id));
    return { message: `coupon ${id} is archived` };
  }
}
