"""Throttle Lab: experiments on CPU limits, run for real and explained."""
