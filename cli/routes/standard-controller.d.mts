/** The types of standard-controller.mjs, for its test; see there. */
import type { Declared, Module } from './standard-types.mjs';

export function controllerModule(declared: Declared): Module;
