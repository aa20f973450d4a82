import { Controller, Extension, Get, Path, Queries, Request, Route, Tags } from '@tsoa/runtime';
import type { Request as HttpRequest } from 'express';
import { accepted } from '../edge/http-failure.js';
import { occasionOf } from '../edge/request-context.js';
import { pageToDto } from '../records/search-records.js';
import type { ReadDependencies } from '../records/unit.js';
import type {
  CouponAssociationDto,
  CouponAssociationListDto,
} from '../declarations/coupons/coupon-association.resource.js';
import {
  listCouponAssociations,
  readCouponAssociation,
  type CouponAssociationsQuery,
} from './coupon-association-operations.js';

/** Named first in .config/tsoa.json, or else GET /coupons/{id} would take /coupons/associations. */
@Route('v1/coupons/associations')
@Tags('Coupons')
export class CouponAssociationsController extends Controller {
  constructor(private readonly dependencies: ReadDependencies) {
    super();
  }

  /**
   * What coupons are attached to, newest first unless sorted otherwise.
   * @summary List coupon associations
   */
  @Get()
  @Extension('x-operation', { entity: 'coupon', access: 'read' })
  public async listCouponAssociations(
    @Request() request: HttpRequest,
    @Queries() query: CouponAssociationsQuery,
  ): Promise<CouponAssociationListDto> {
    const found = listCouponAssociations(this.dependencies, occasionOf(request), query);
    return pageToDto(accepted(await found), (association) => association);
  }

  /** @summary Read a coupon association */
  @Get('{id}')
  @Extension('x-operation', { entity: 'coupon', access: 'read' })
  public async readCouponAssociation(
    @Request() request: HttpRequest,
    @Path() id: string,
  ): Promise<CouponAssociationDto> {
    return accepted(await readCouponAssociation(this.dependencies, occasionOf(request), id));
  }
}
