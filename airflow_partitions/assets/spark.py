spark_asset = None
