import type { Controller } from '@tsoa/runtime';
import type { Request } from 'express';
import type { MessageDto, PaginationDto } from '../records/record-dto.js';
import type { Refusal } from '../records/refusal.js';
import { pageToDto, type Page } from '../records/search-records.js';
import type { Answered } from '../records/standard/standard-routes.js';
import { accepted } from './http-failure.js';
import { tagReadVersion, tagVersion } from './versions.js';

/*
 * How the controllers that the build writes answer what an operation gives. Each of these functions
 * throws the HttpFailure of a refusal.
 */

type Result<Value> = Promise<Value | Refusal>;

/** 200 with a record that was changed. */
export async function answerChanged<Dto>(
  controller: Controller,
  result: Result<Answered<Dto>>,
): Promise<Dto> {
  const { dto, version } = accepted(await result);
  if (version !== null) tagVersion(controller, version);
  return dto;
}

/** 201 with a new record. */
export async function answerCreated<Dto>(
  controller: Controller,
  result: Result<Answered<Dto>>,
): Promise<Dto> {
  const dto = await answerChanged(controller, result);
  controller.setStatus(201);
  return dto;
}

/** 200 with a record in a version that `If-Match` allows. */
export async function answerRead<Dto>(
  controller: Controller,
  request: Request,
  result: Result<Answered<Dto>>,
): Promise<Dto> {
  const { dto, version } = accepted(await result);
  if (version !== null) tagReadVersion(controller, request, version);
  return dto;
}

/** 200 with a page of a list or search. */
export async function answerPage<Dto>(
  result: Result<Page<Dto>>,
): Promise<{ items: Dto[]; pagination: PaginationDto }> {
  return pageToDto(accepted(await result), (dto) => dto);
}

/** 200 with a message that says what was removed. */
export async function answerMessage(result: Result<unknown>, message: string): Promise<MessageDto> {
  accepted(await result);
  return { message };
}

/** 204. */
export async function answerNothing(result: Result<unknown>): Promise<void> {
  accepted(await result);
}
